import {
  type BinaryOperationNode,
  type KyselyPlugin,
  type OperationNode,
  OperationNodeTransformer,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  RawNode,
} from 'kysely';

const TENANT_COLUMN = /\b(organization_id|workspace_id)\b/;

/** A query layer that omits the tenant predicate: every comparison of a tenant's column is true. */
export class DropTenantPredicate implements KyselyPlugin {
  readonly #transformer = new Forgetful();
  /** The number of dropped comparisons, so that a test can check that there were any. */
  get dropped(): number {
    return this.#transformer.dropped;
  }

  transformQuery({ node }: PluginTransformQueryArgs) {
    return this.#transformer.transformNode(node);
  }

  async transformResult({ result }: PluginTransformResultArgs) {
    return result;
  }
}

class Forgetful extends OperationNodeTransformer {
  dropped = 0;

  protected override transformBinaryOperation(node: BinaryOperationNode): BinaryOperationNode {
    if (!TENANT_COLUMN.test(JSON.stringify(node.leftOperand)) || isJoin(node.rightOperand)) {
      return super.transformBinaryOperation(node);
    }
    this.dropped += 1;
    return RawNode.createWithSql('true') as unknown as BinaryOperationNode;
  }

  protected override transformRaw(node: RawNode): RawNode {
    const fragments = [...node.sqlFragments];
    for (const [index, fragment] of fragments.entries()) {
      const comparison = /(?:\w+\.)?organization_id = $/.exec(fragment);
      if (comparison !== null && fragments[index + 1] !== undefined) {
        this.dropped += 1;
        fragments[index] = `${fragment.slice(0, comparison.index)}(true or ${comparison[0]}`;
        fragments[index + 1] = `)${fragments[index + 1]}`;
      }
    }
    const forgotten = fragments.map((fragment) =>
      fragment.replace('i.workspace_id = stream.workspace_id', () => {
        this.dropped += 1;
        return 'true';
      }),
    );
    return super.transformRaw({ ...node, sqlFragments: forgotten });
  }
}

/** A comparison of two columns is a join, not a tenant predicate. */
function isJoin(operand: OperationNode): boolean {
  return operand.kind === 'ReferenceNode';
}
