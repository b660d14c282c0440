import type { Directive } from '../nginx/parser.ts';
import { findLocation } from './locations.ts';
import { around, effective, own, type Scope, toHttpScopes, within } from './scopes.ts';
import { type Target, targetOf } from './target.ts';
import { hasVariable, variablesOf } from './variables.ts';

/** A place where requests are passed on. */
export interface Route {
  readonly scope: Scope;
  readonly pass: Directive;
  /** `cgi` is any of the protocols that carry headers as variables. */
  readonly protocol: 'http' | 'grpc' | 'cgi';
  readonly target: Target;
}

/** One server with what the rules ask about it. */
export interface Server {
  readonly scope: Scope;
  /** Where a call with a proof can be passed on. */
  readonly routes: readonly Route[];
  /** Where copies of a request go beside it, with the directive that sends them. */
  readonly copies: readonly Copy[];
}

export interface Copy {
  readonly by: Directive;
  readonly to: readonly Route[];
}

const PASSES = {
  proxy_pass: 'http',
  grpc_pass: 'grpc',
  fastcgi_pass: 'cgi',
  uwsgi_pass: 'cgi',
  scgi_pass: 'cgi',
} as const satisfies Record<string, Route['protocol']>;
/** Directives that send a copy of a request to a location, besides what happens to the request itself. */
const COPIERS = ['mirror', 'auth_request', 'post_action'] as const;

/** Every server of a configuration that passes anything on. */
export function serversOf(directives: readonly Directive[]): Server[] {
  return toHttpScopes(directives)
    .flatMap((http) => http.children.filter(({ kind }) => kind === 'server'))
    .map(toServer)
    .filter(({ routes, copies }) => routes.length > 0 || copies.length > 0);
}

function toServer(scope: Scope): Server {
  const all = routesOf(scope);
  const copies = [...within(scope)]
    .filter((inner) => inner.kind !== 'http')
    .flatMap((inner) => COPIERS.flatMap((name) => effective(inner, name)))
    .filter(({ args }) => args[0] !== undefined && args[0] !== 'off')
    .filter((directive, index, list) => list.indexOf(directive) === index)
    .map((by) => ({ by, to: leadsTo(scope, all, by.args[0] ?? '') }));
  const beside = new Set(copies.flatMap(({ to }) => to));
  return { scope, routes: all.filter((route) => !beside.has(route)), copies };
}

function routesOf(server: Scope): Route[] {
  const variables = variablesOf(server);
  return [...within(server)].flatMap((scope) => {
    const [pass, protocol] = passOf(scope) ?? [];
    if (pass === undefined || protocol === undefined) return [];
    const target = protocol === 'http' ? targetOf(pass.args[0] ?? '', variables) : 'inherited';
    return [{ scope, pass, protocol, target }];
  });
}

// A location does not inherit where to pass things on; `if` and `limit_except` within it do.
function passOf(scope: Scope): [Directive, Route['protocol']] | undefined {
  for (const [name, protocol] of Object.entries(PASSES)) {
    const pass = own(scope, name).at(-1);
    if (pass !== undefined) return [pass, protocol];
  }
  const isPart = scope.kind === 'if' || scope.kind === 'limit_except';
  return isPart && scope.parent !== undefined ? passOf(scope.parent) : undefined;
}

/** The routes that a path or an `@name` inside nginx leads to; all of them when it holds a variable. */
export function leadsTo(server: Scope, routes: readonly Route[], uri: string): readonly Route[] {
  const path = uri.replace(/\$is_args.*$|\?.*$/s, '');
  if (hasVariable(path)) return routes;
  const location = findLocation(server, path);
  return location === undefined ? [] : routes.filter((route) => locationOf(route.scope) === location);
}

/** The location that a scope is, or is a part of. */
export function locationOf(scope: Scope): Scope | undefined {
  for (const level of around(scope)) if (level.kind === 'location') return level;
  return undefined;
}
