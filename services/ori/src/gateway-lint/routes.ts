import { findLocation } from './locations.ts';
import type { Directive } from './nginx/parser.ts';
import { around, effective, own, type Scope, toHttpScopes, within } from './scopes.ts';
import { type Target, targetOf } from './target.ts';
import { hasVariable, variablesOf } from './variables.ts';

export interface Route {
  readonly scope: Scope;
  readonly pass: Directive;
  /** `cgi` is any protocol that passes headers as variables. */
  readonly protocol: 'http' | 'grpc' | 'cgi';
  readonly target: Target;
}

export interface Server {
  readonly scope: Scope;
  /** Places that can forward a call with a proof. */
  readonly routes: readonly Route[];
  /** Places that receive a copy of a request, with the directive that sends it. */
  readonly copies: readonly Copy[];
  /** The routes that an internal path or an `@name` leads to; all of them if it contains a variable. */
  leadsTo(uri: string): readonly Route[];
}

interface Copy {
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
/** Directives that send a copy of a request to a location, in addition to forwarding it. */
const COPIERS = ['mirror', 'auth_request', 'post_action'] as const;

/** Every server of a configuration that forwards requests. */
export function serversOf(directives: readonly Directive[]): Server[] {
  return toHttpScopes(directives)
    .flatMap((http) => http.children.filter(({ kind }) => kind === 'server'))
    .map(toServer)
    .filter(({ routes, copies }) => routes.length > 0 || copies.length > 0);
}

function toServer(scope: Scope): Server {
  const all = routesOf(scope);
  const leadsToAny = follow(scope, all);
  const senders = [...within(scope)].flatMap((inner) => COPIERS.flatMap((name) => effective(inner, name)));
  const copies = [...new Set(senders)].map((by) => ({ by, to: leadsToAny(by.args[0] ?? '') }));
  const beside = new Set(copies.flatMap(({ to }) => to));
  const routes = all.filter((route) => !beside.has(route));
  return { scope, routes, copies, leadsTo: follow(scope, routes) };
}

function follow(server: Scope, routes: readonly Route[]): Server['leadsTo'] {
  const byLocation = Map.groupBy(routes, ({ scope }) => locationOf(scope));
  const known = new Map<string, readonly Route[]>();
  return (uri) => {
    const path = uri.replace(/\$is_args.*$|\?.*$/s, '');
    if (hasVariable(path)) return routes;
    const location = known.has(path) ? undefined : findLocation(server, path);
    const reached = known.get(path) ?? (location === undefined ? [] : (byLocation.get(location) ?? []));
    known.set(path, reached);
    return reached;
  };
}

function routesOf(server: Scope): Route[] {
  const variables = variablesOf(server);
  const targets = new Map<string, Target>();
  const target = (url: string): Target => {
    const known = targets.get(url) ?? targetOf(url, variables);
    targets.set(url, known);
    return known;
  };
  return [...within(server)].flatMap((scope) => {
    const [pass, protocol] = passOf(scope) ?? [];
    if (pass === undefined || protocol === undefined) return [];
    return [
      { scope, pass, protocol, target: protocol === 'http' ? target(pass.args[0] ?? '') : 'inherited' },
    ];
  });
}

// A location does not inherit proxy_pass; `if` and `limit_except` in a location do.
function passOf(scope: Scope): [Directive, Route['protocol']] | undefined {
  for (const [name, protocol] of Object.entries(PASSES)) {
    const pass = own(scope, name).at(-1);
    if (pass !== undefined) return [pass, protocol];
  }
  const isPart = scope.kind === 'if' || scope.kind === 'limit_except';
  return isPart && scope.parent !== undefined ? passOf(scope.parent) : undefined;
}

/** The location that a scope is or belongs to. */
export function locationOf(scope: Scope): Scope | undefined {
  for (const level of around(scope)) if (level.kind === 'location') return level;
  return undefined;
}
