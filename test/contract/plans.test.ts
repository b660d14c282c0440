import { randomUUID } from 'node:crypto';
import { setIcon } from '@ori/administration/icons';
import * as credentials from '@ori/store/byok/change-credential';
import type { Database } from '@ori/store/database';
import type { StoreRole } from '@ori/store/privileges/grant';
import type { Schema } from '@ori/store/schema';
import { type SignerQueries, signerQueries } from '@ori/store/signer';
import { whileLocked } from '@ori/store/tenant';
import { createApiKey } from '@ori/store/writes/api-keys';
import { createCredential } from '@ori/store/writes/byok';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { crowd, grow, SMALL } from '@ori/test-env/grown';
import { createScenario, type Scenario } from '@ori/test-env/scenario';
import { openTestStore, type TestStore } from '@ori/test-env/stores';
import {
  CompiledQuery,
  type KyselyPlugin,
  type PluginTransformQueryArgs,
  type PluginTransformResultArgs,
  PostgresQueryCompiler,
  sql,
  type Transaction,
} from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as assignments from '../../services/management/src/assignments/queries.ts';
import * as byok from '../../services/management/src/byok/queries.ts';
import * as callers from '../../services/management/src/callers/queries.ts';
import { databaseSpentProofs } from '../../services/management/src/callers/spent-proofs.ts';
import * as guardrails from '../../services/management/src/guardrails/queries.ts';
import { once } from '../../services/management/src/http/once-per-key.ts';
import * as interns from '../../services/management/src/interns/queries.ts';
import * as keys from '../../services/management/src/keys/queries.ts';
import * as members from '../../services/management/src/workspaces/member-queries.ts';
import * as workspaces from '../../services/management/src/workspaces/queries.ts';

const NEIGHBOUR = 10_000;
/** No statement has to visit more rows, whatever others have; nor, unless it counts them, whatever this account has. */
const ROWS_MAX = 1000;
/** These never grow. */
const CONSTANT = new Set(['switches', 'dpop_epoch']);

/** Remembers every statement that runs through a database. */
class Recorder implements KyselyPlugin {
  readonly statements: CompiledQuery[] = [];
  transformQuery({ node, queryId }: PluginTransformQueryArgs) {
    this.statements.push(new PostgresQueryCompiler().compileQuery(node, queryId));
    return node;
  }
  async transformResult({ result }: PluginTransformResultArgs) {
    return result;
  }
}

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows'?: number;
  readonly 'Actual Loops'?: number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly Plans?: readonly Plan[];
}

const below = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(below)];

/** Without what is counted for the `total_count` of a list. */
const notCounted = (plan: Plan): Plan[] =>
  plan['Node Type'] === 'Aggregate' ? [] : [plan, ...(plan.Plans ?? []).flatMap(notCounted)];

function rowsRead(nodes: readonly Plan[]): number {
  return nodes
    .filter((node) => /Scan/.test(node['Node Type']) && !/Subquery|CTE|Function/.test(node['Node Type']))
    .reduce((sum, node) => {
      const removed = (node['Rows Removed by Filter'] ?? 0) + (node['Rows Removed by Index Recheck'] ?? 0);
      return sum + ((node['Actual Rows'] ?? 0) + removed) * (node['Actual Loops'] ?? 1);
    }, 0);
}

const scanned = (nodes: readonly Plan[]): string[] =>
  nodes.flatMap(({ 'Node Type': type, 'Relation Name': table }) =>
    type === 'Seq Scan' && table !== undefined && !CONSTANT.has(table) ? [table] : [],
  );

/** What the operations of one account name. */
interface Facts {
  readonly account: { readonly organizationId: string };
  readonly scenario: Scenario;
  /** The newest guardrail, with every assignment, and another one without any. */
  readonly guardrailId: string;
  readonly emptyId: string;
  readonly keyHash: string;
  readonly ownHash: string;
  readonly credentialId: string;
  /** A workspace without keys. */
  readonly spareId: string;
}

let store: TestStore;
let facts: Facts;
const accounts: Facts[] = [];

beforeAll(async () => {
  store = await openTestStore('postgres');
  const url = store.url ?? '';
  await crowd(url, 5000);
  await sql`insert into spent_dpop_proofs (id) select lpad(n::text, 43, '0') from generate_series(1, 20000) n`.execute(
    store.owner.kysely,
  );
  await sql`analyze spent_dpop_proofs`.execute(store.owner.kysely);
  const size = NEIGHBOUR;
  const large = { members: size, keys: size, assignments: size, interns: size, guardrails: size };
  for (const grown of [SMALL, large]) {
    const scenario = await createScenario(store.owner);
    const named = await name(scenario);
    await grow(url, scenario, grown);
    const { organizationId } = scenario;
    const newest = async (column: string, table: string) => {
      const { rows } = await sql<{
        value: string;
      }>`select ${sql.ref(column)} as value from ${sql.table(table)}
        where organization_id = ${organizationId} order by created_at desc limit 2`.execute(
        store.owner.kysely,
      );
      return rows.map(({ value }) => value);
    };
    const [guardrailId = '', emptyId = ''] = await newest('id', 'guardrails');
    const [keyHash = ''] = await newest('key_hash', 'guardrail_key_assignments');
    accounts.push({ ...named, scenario, guardrailId, emptyId, keyHash });
  }
}, 240_000);
afterAll(() => store[Symbol.asyncDispose]());

/** An API key, an icon, a provider credential and a workspace. */
async function name({ organizationId, workspaceId, internId }: Scenario) {
  const { hash: ownHash } = await createApiKey(store.owner, { kind: 'api', name: 'ci', workspaceId });
  const bytes = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a);
  await setIcon(store.owner, { internId, bytes });
  const credentialId = randomUUID();
  await createCredential(store.owner, {
    id: credentialId,
    organization_id: organizationId,
    workspace_id: workspaceId,
    provider: 'openai',
    label: '...',
    sealed_key: 'sealed',
  });
  const { id: spareId } = await createWorkspace(store.owner, { organizationId, name: 'spare' });
  return { account: { organizationId }, ownHash, credentialId, spareId };
}

const page = { offset: 0, limit: 50 };
type Operation = (db: Database) => Promise<unknown>;

type Queries = typeof assignments &
  typeof byok &
  typeof callers &
  typeof credentials &
  typeof guardrails &
  typeof interns &
  typeof keys &
  typeof members &
  typeof workspaces;
/** The names of those that take a database. */
type Query = {
  [Name in keyof Queries]: Queries[Name] extends (db: Database, ...rest: never[]) => Promise<unknown>
    ? Name
    : never;
}[keyof Queries];

/** Every query of the management service. */
const MANAGEMENT: Record<Query | `${string} ${string}`, Operation> = {
  findApiKeyCaller: (db) => callers.findApiKeyCaller(db, facts.ownHash),
  'the epoch of used proofs': (db) => databaseSpentProofs(db).learn(),
  'a used proof': async (db) =>
    databaseSpentProofs(db).spend({ id: 'x'.repeat(43), epoch: 'epoch', from: 0, until: 1 }),
  findPerson: (db) => callers.findPerson(db, facts.scenario.question),
  listInterns: (db) => interns.listInterns(db, { workspaceIds: [facts.scenario.workspaceId] }, { limit: 51 }),
  findIcon: (db) =>
    interns.findIcon(db, { workspaceIds: [facts.scenario.workspaceId] }, facts.scenario.internId),
  listCredentials: (db) =>
    byok.listCredentials(db, facts.account, { ...page, workspaceId: facts.scenario.workspaceId }),
  changeCredential: (db) =>
    credentials.changeCredential(db, facts.account, facts.credentialId, async () => ({ name: randomUUID() })),
  findCredential: (db) => credentials.findCredential(db, facts.account, facts.credentialId),
  addCredential: (db) =>
    byok.addCredential(db, facts.account, facts.scenario.workspaceId, {
      id: randomUUID(),
      provider: 'openai',
      label: '...',
      sealed_key: 'sealed',
    }),
  removeCredential: (db) => byok.removeCredential(db, facts.account, facts.credentialId),
  findIntern: (db) =>
    interns.findIntern(db, { workspaceIds: [facts.scenario.workspaceId] }, facts.scenario.internId),
  listKeys: (db) =>
    keys.listKeys(db, facts.account, {
      ...page,
      workspaceId: facts.scenario.workspaceId,
      includeDisabled: true,
    }),
  findKey: (db) => keys.findKey(db, facts.account, facts.keyHash),
  createKey: (db) =>
    keys.createKey(db, facts.account, {
      name: 'new',
      workspaceId: facts.scenario.workspaceId,
      createdBy: facts.scenario.userId,
      createdByKey: facts.keyHash,
    }),
  changeKey: (db) => keys.changeKey(db, facts.account, facts.keyHash, { name: 'renamed' }),
  deleteKey: (db) => keys.deleteKey(db, facts.account, facts.keyHash),
  findOwnKey: (db) => keys.findOwnKey(db, { hash: facts.ownHash }),
  listWorkspaces: (db) => workspaces.listWorkspaces(db, facts.account, page),
  findWorkspaceRecord: (db) => workspaces.findWorkspaceRecord(db, facts.account, facts.scenario.workspaceId),
  createWorkspaceRecord: (db) =>
    workspaces.createWorkspaceRecord(db, { ...facts, ...facts.account, ...facts.scenario }, { name: 'new' }),
  changeWorkspaceRecord: (db) =>
    workspaces.changeWorkspaceRecord(db, facts.account, facts.scenario.workspaceId, { name: 'renamed' }),
  deleteWorkspaceRecord: (db) =>
    workspaces.deleteWorkspaceRecord(db, facts.account, facts.spareId, { defaultToo: false }),
  listOrganizationMembers: (db) => members.listOrganizationMembers(db, facts.account, page),
  listWorkspaceMembers: (db) =>
    members.listWorkspaceMembers(db, facts.account, { ...page, workspaceId: facts.scenario.workspaceId }),
  addWorkspaceMembers: (db) =>
    members.addWorkspaceMembers(db, { ...facts, ...facts.account }, facts.scenario.workspaceId, [
      facts.scenario.userId,
    ]),
  removeWorkspaceMembers: (db) =>
    members.removeWorkspaceMembers(db, facts.account, facts.scenario.workspaceId, [facts.scenario.userId]),
  'a kept answer': (db) => once(db, facts.account, '0'.repeat(64), async () => 'sealed'),
  'a locked record': (db) =>
    whileLocked(db, (within) => guardrails.findGuardrail(within, facts.account, facts.guardrailId)),
  unknownApiKeys: (db) => byok.unknownApiKeys(db, facts.account, [facts.keyHash]),
  listGuardrails: (db) =>
    guardrails.listGuardrails(db, facts.account, { ...page, workspaceId: facts.scenario.workspaceId }),
  createGuardrail: (db) =>
    guardrails.createGuardrail(db, facts.account, facts.scenario.workspaceId, { name: 'new' }),
  findGuardrail: (db) => guardrails.findGuardrail(db, facts.account, facts.guardrailId),
  changeGuardrail: (db) =>
    guardrails.changeGuardrail(db, facts.account, facts.guardrailId, { name: randomUUID() }),
  deleteGuardrail: (db) => guardrails.deleteGuardrail(db, facts.account, facts.emptyId),
  listAssignments: (db) => assignments.listAssignments(db, facts.account, assignments.KEYS, page),
  'keyAssignments of a key': (db) =>
    assignments.listAssignments(db, facts.account, assignments.KEYS, { ...page, target: facts.keyHash }),
  'memberAssignments of a member': (db) =>
    assignments.listAssignments(db, facts.account, assignments.MEMBERS, {
      ...page,
      target: facts.scenario.userId,
    }),
  'keyAssignments of one': (db) =>
    assignments.listAssignments(db, facts.account, assignments.KEYS, { ...page, ...facts }),
  'keyAssignments of one without any': (db) =>
    assignments.listAssignments(db, facts.account, assignments.KEYS, { ...page, guardrailId: facts.emptyId }),
  'memberAssignments of one without any': (db) =>
    assignments.listAssignments(db, facts.account, assignments.MEMBERS, {
      ...page,
      guardrailId: facts.emptyId,
    }),
  assign: (db) =>
    assignments.assign(db, facts.account, assignments.KEYS, {
      ...facts,
      targets: [facts.keyHash],
      assignedBy: null,
    }),
  unassign: (db) =>
    assignments.unassign(db, facts.account, assignments.KEYS, { ...facts, targets: [facts.keyHash] }),
  'memberAssignments of all': (db) =>
    assignments.listAssignments(db, facts.account, assignments.MEMBERS, page),
  'memberAssignments of one': (db) =>
    assignments.listAssignments(db, facts.account, assignments.MEMBERS, { ...page, ...facts }),
  'memberAssignments assign': (db) =>
    assignments.assign(db, facts.account, assignments.MEMBERS, {
      ...facts,
      targets: [facts.scenario.userId],
      assignedBy: null,
    }),
  'memberAssignments unassign': (db) =>
    assignments.unassign(db, facts.account, assignments.MEMBERS, {
      ...facts,
      targets: [facts.scenario.userId],
    }),
};

/** Every query of the signer on the way to a proof. */
const SIGNER: Record<
  Exclude<keyof SignerQueries, 'ping' | 'time'>,
  (q: SignerQueries) => Promise<unknown>
> = {
  gateFacts: (q) => q.gateFacts(facts.scenario.question),
  signingKeys: (q) => q.signingKeys(facts.scenario.internId),
  publishedKeys: (q) => q.publishedKeys(facts.scenario.internId, { at: 1 }),
  keyExpiry: (q) => q.keyExpiry({ at: 1 }),
  keksInUse: (q) => q.keksInUse(),
  lifecycleWrites: (q) => q.lifecycleWrites(),
  apiKey: (q) => q.apiKey(facts.ownHash),
};

function literal(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return literal(`{${value.map((item) => JSON.stringify(item)).join()}}`);
  return `'${(value instanceof Date ? value.toISOString() : String(value)).replaceAll("'", "''")}'`;
}

/** Runs `work` in a transaction that is rolled back. */
async function undone(db: Database, work: (trx: Transaction<Schema>) => Promise<unknown>): Promise<void> {
  const undo = new Error('undo');
  const done = db.kysely.transaction().execute(async (trx) => {
    await work(trx);
    throw undo;
  });
  await expect(done).rejects.toBe(undo);
}

/** Runs the work, and explains each of its statements. */
async function explain(role: StoreRole, work: (db: Database) => Promise<unknown>) {
  const recorder = new Recorder();
  const db = store.as(role);
  await undone(db, (trx) => {
    const query = async <Row>(text: string, values: readonly unknown[] = []) => {
      const statement = CompiledQuery.raw(text, [...values]);
      recorder.statements.push(statement);
      return (await trx.executeQuery<Row>(statement)).rows;
    };
    return work({ ...db, query, kysely: trx.withPlugin(recorder) });
  });
  const plans: { readonly statement: string; readonly plan: Plan; readonly generic: Plan | undefined }[] = [];
  await undone(db, async (trx) => {
    await sql`set local statement_timeout = '60s'`.execute(trx);
    for (const statement of recorder.statements) {
      if (/set_config/.test(statement.sql)) {
        await trx.executeQuery(statement);
        continue;
      }
      await sql`prepare explained as ${sql.raw(statement.sql)}`.execute(trx);
      const values = statement.parameters.length === 0 ? '' : `(${statement.parameters.map(literal).join()})`;
      const of = async (mode: string, how: string) => {
        await sql`set local plan_cache_mode = ${sql.raw(mode)}`.execute(trx);
        const { rows } = await sql<{ 'QUERY PLAN': [{ Plan: Plan }] }>`
          explain (${sql.raw(how)}) execute explained ${sql.raw(values)}`.execute(trx);
        const plan = rows[0]?.['QUERY PLAN'][0].Plan;
        if (plan === undefined) throw new Error('EXPLAIN answers one plan');
        return plan;
      };
      // The signer's plans are made once for all values, those of management for each.
      const generic = role === 'ori_signer' ? await of('force_generic_plan', 'format json') : undefined;
      const plan = await of('force_custom_plan', 'analyze, format json');
      await sql`deallocate explained`.execute(trx);
      plans.push({ statement: statement.sql, plan, generic });
    }
  });
  return plans;
}

async function requireGoodPlans(
  role: StoreRole,
  nodesOf: typeof below,
  work: (db: Database) => Promise<unknown>,
): Promise<void> {
  const plans = await explain(role, work);
  expect(plans.length).toBeGreaterThan(0);
  for (const { statement, plan, generic } of plans) {
    const nodes = nodesOf(plan);
    expect(scanned([...nodes, ...(generic === undefined ? [] : below(generic))]), statement).toEqual([]);
    expect(rowsRead(nodes), statement).toBeLessThan(ROWS_MAX);
  }
}

describe.each([
  ['a hundred rows, beside one of many', 0, below],
  [`${NEIGHBOUR} rows of each kind`, 1, notCounted],
] as const)('an account of %s', (_, which, nodesOf) => {
  beforeAll(() => {
    facts = accounts[which] as Facts;
  });
  it.each(Object.entries(MANAGEMENT))('%s reads few rows, each by an index', (_, operation) =>
    requireGoodPlans('ori_management', nodesOf, (db) => operation(db)),
  );
  it.each(Object.entries(SIGNER))('%s reads few rows, each by an index', (_, query) =>
    requireGoodPlans('ori_signer', below, (db) => query(signerQueries(db))),
  );
});
