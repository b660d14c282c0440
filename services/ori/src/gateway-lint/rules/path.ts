import type { Finding } from '../finding.ts';
import { prefixOf } from '../locations.ts';
import { locationOf, type Route, type Server } from '../routes.ts';
import { effective, own, type Scope, within } from '../scopes.ts';

/** Changes of the path by `proxy_pass` itself. */
export function* passedPath({ routes }: Server): Iterable<Finding> {
  for (const { target, pass: directive } of routes) {
    if (target === 'replaced') yield { rule: 'path-replaced', directive };
    if (target === 'computed') yield { rule: 'path-computed', directive };
    if (target === 'unknown') yield { rule: 'path-unknown', directive };
  }
}

/** `rewrite` before a route that forwards the current path. */
export function* rewrites({ scope: server, routes, leadsTo }: Server): Iterable<Finding> {
  for (const scope of within(server)) {
    for (const directive of own(scope, 'rewrite')) {
      const [, replacement = '', flag] = directive.args;
      if (flag === 'redirect' || flag === 'permanent' || /^(?:https?:\/\/|\$scheme)/.test(replacement))
        continue;
      const location = locationOf(scope);
      const stays = flag === 'break' && location !== undefined;
      const reached = stays
        ? routes.filter((route) => locationOf(route.scope) === location)
        : leadsTo(replacement);
      if (reached.some(isMovable)) yield { rule: 'path-rewritten', directive };
    }
  }
}

/** `set $args`, after which nginx rebuilds the request-target. */
export function* setQuery({ scope: server, routes }: Server): Iterable<Finding> {
  if (!routes.some(isMovable)) return;
  for (const scope of within(server)) {
    for (const directive of own(scope, 'set')) {
      if (directive.args[0] === '$args') yield { rule: 'query-set', directive };
    }
  }
}

/** `try_files` and `index` that lead to a route under another path. A named location keeps the path. */
export function* innerRedirects({ scope: server, routes, leadsTo }: Server): Iterable<Finding> {
  const passing = new Set(routes.map(({ scope }) => scope));
  for (const scope of within(server)) {
    for (const directive of own(scope, 'try_files')) {
      const last = directive.args.at(-1) ?? '';
      if (last.startsWith('@') || last.startsWith('=')) continue;
      if (leadsTo(last).some(isMovable)) yield { rule: 'path-redirected', directive };
    }
    if (scope.kind !== 'location' || passing.has(scope)) continue;
    for (const directive of effective(scope, 'index')) {
      const paths = directive.args.map((name) => (name.startsWith('/') ? name : `${folderOf(scope)}${name}`));
      if (paths.some((path) => leadsTo(path).some(isMovable))) {
        yield { rule: 'path-redirected', directive };
      }
    }
  }
}

/** Whether a route forwards the current path, as changed so far. */
function isMovable({ target }: Route): boolean {
  return target === 'inherited' || target === 'replaced';
}

function folderOf(location: Scope): string {
  return (prefixOf(location) ?? '/').replace(/[^/]*$/, '');
}
