import type { Directive } from './nginx/parser.ts';

type ScopeKind = 'http' | 'server' | 'location' | 'if' | 'limit_except';

/** One level of an HTTP configuration: its directives, its parent and its children. */
export interface Scope {
  readonly kind: ScopeKind;
  /** The directive whose block this is; undefined for a file that has no such block around it. */
  readonly directive: Directive | undefined;
  readonly parent: Scope | undefined;
  readonly directives: ReadonlyMap<string, readonly Directive[]>;
  readonly children: readonly Scope[];
}

const KINDS: ReadonlySet<string> = new Set<ScopeKind>(['server', 'location', 'if', 'limit_except']);

/**
 * The http levels of a configuration. A file without an `http` block is treated as included in one: then its servers
 * count, or without any, its locations. `stream`, `mail` and `upstream` are ignored.
 */
export function toHttpScopes(directives: readonly Directive[]): Scope[] {
  const blocks = directives.filter(({ name, block }) => name === 'http' && block !== undefined);
  if (blocks.length > 0)
    return blocks.map((directive) => toScope('http', directive, undefined, directive.block ?? []));
  const hasServer = directives.some(({ name }) => name === 'server');
  if (hasServer) return [toScope('http', undefined, undefined, directives)];
  return [
    toScope('http', undefined, undefined, [], (http) => [toScope('server', undefined, http, directives)]),
  ];
}

function toScope(
  kind: ScopeKind,
  directive: Directive | undefined,
  parent: Scope | undefined,
  directives: readonly Directive[],
  inner = (scope: Scope) => blocksOf(scope, directives),
): Scope {
  const children: Scope[] = [];
  const byName = Map.groupBy(directives, ({ name }) => name);
  const scope: Scope = { kind, directive, parent, directives: byName, children };
  for (const child of inner(scope)) children.push(child);
  return scope;
}

function blocksOf(scope: Scope, directives: readonly Directive[]): Scope[] {
  return directives.flatMap((directive) =>
    directive.block !== undefined && KINDS.has(directive.name)
      ? [toScope(directive.name as ScopeKind, directive, scope, directive.block)]
      : [],
  );
}

export function* within(scope: Scope): Generator<Scope> {
  yield scope;
  for (const child of scope.children) yield* within(child);
}

/** The scope and all enclosing scopes, innermost first. */
export function* around(scope: Scope): Generator<Scope> {
  for (let at: Scope | undefined = scope; at !== undefined; at = at.parent) yield at;
}

export function own(scope: Scope, name: string): readonly Directive[] {
  return scope.directives.get(name) ?? [];
}

/**
 * The directives with this name that apply to the scope: those of the innermost level that has any, like the
 * inheritance of nginx.
 */
export function effective(scope: Scope, name: string): readonly Directive[] {
  for (const level of around(scope)) {
    const found = own(level, name);
    if (found.length > 0) return found;
  }
  return [];
}

/** The last directive with this name that applies to the scope, if it has this value. */
export function lastWith(scope: Scope, name: string, value: 'on' | 'off'): Directive | undefined {
  const directive = effective(scope, name).at(-1);
  return directive?.args[0]?.toLowerCase() === value ? directive : undefined;
}
