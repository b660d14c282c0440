import type { Finding } from '../finding.ts';
import type { Server } from '../routes.ts';
import { effective, type Scope, within } from '../scopes.ts';
import { isStripped } from './request.ts';

/** A second receiver of the same proof. A receiver without the signatures does not count. */
export function* copies({ copies }: Server): Iterable<Finding> {
  for (const { by: directive, to } of copies) {
    if (!to.some((route) => !isStripped(route))) continue;
    yield { rule: directive.name === 'auth_request' ? 'copied-for-authorization' : 'sent-twice', directive };
  }
}

/** The same proof sent to the next upstream server after the first received it. */
export function* retries({ routes }: Server): Iterable<Finding> {
  for (const { scope, protocol } of routes) {
    const directive = effective(scope, `${protocol === 'grpc' ? 'grpc' : 'proxy'}_next_upstream`).at(-1);
    if (directive?.args.includes('non_idempotent')) yield { rule: 'retried', directive };
  }
}

/** An error page that is a route: by path it gets a GET request, by name it gets the call again. */
export function* errorPages({ scope: server, routes, leadsTo }: Server): Iterable<Finding> {
  const passing = new Set(routes.map(({ scope }) => scope));
  for (const scope of within(server)) {
    for (const directive of effective(scope, 'error_page')) {
      const uri = directive.args.at(-1) ?? '';
      if (/^https?:\/\//.test(uri)) continue;
      const isAgain = !uri.startsWith('@') || passing.has(scope);
      if (isAgain && leadsTo(uri).length > 0) yield { rule: 'error-page-passed-on', directive };
    }
  }
}

export function* cachedAnswers({ routes }: Server): Iterable<Finding> {
  for (const { scope } of routes) {
    const [methods] = effective(scope, 'proxy_cache_methods');
    const hasPost = methods?.args.some((method) => method.toUpperCase() === 'POST') === true;
    if (methods !== undefined && hasPost && caches(scope))
      yield { rule: 'answer-cached', directive: methods };
  }
}

function caches(scope: Scope): boolean {
  const zone = effective(scope, 'proxy_cache').at(-1)?.args[0];
  return zone !== undefined && zone !== 'off';
}
