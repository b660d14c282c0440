import { expand, hasVariable, type Variables, withHosts } from './variables.ts';

/**
 * The request-target that a `proxy_pass` sends: `raw` is `$request_uri`, byte for byte as received, regardless of
 * rewrites; `inherited` is the same unless something rewrites it; `replaced` is another path; `computed` contains
 * variables other than `$request_uri`; `unknown` may contain a path that the configuration does not show.
 */
export type Target = 'raw' | 'inherited' | 'replaced' | 'computed' | 'unknown';

/** From best to worst. */
const ORDER: readonly Target[] = ['raw', 'inherited', 'unknown', 'computed', 'replaced'];

/** The worst target that the argument of a `proxy_pass` can have; `inherited` if it can be either good one. */
export function targetOf(argument: string, variables: Variables): Target {
  const targets = expand(argument, variables).map((text) => judge(withHosts(text)));
  return targets.reduce<Target>(
    (worst, next) => (ORDER.indexOf(next) > ORDER.indexOf(worst) ? next : worst),
    'raw',
  );
}

function judge(url: string): Target {
  const rest = /^[a-z]+:\/\/(.*)$/is.exec(url)?.[1] ?? behindUnknown(url);
  if (rest === undefined) return hasVariable(url) ? 'unknown' : 'inherited';
  const path = pathOf(rest);
  if (path === undefined) return 'inherited';
  if (/^\$(?:request_uri|\{request_uri\})$/.test(path)) return 'raw';
  // A literal path replaces it, independent of the variable before it.
  if (!hasVariable(path) || /^\$(?:\{\w+\}|\w+)(?::\d+)?\/[^$]*$/.test(path)) return 'replaced';
  return path.startsWith('$') && !isUriVariable(path) ? 'unknown' : 'computed';
}

/** The text after a variable that stands for scheme and host. */
function behindUnknown(url: string): string | undefined {
  return /^\$(?:\{\w+\}|\w+)(?::\d+)?([/$].*)$/s.exec(url)?.[1];
}

/** The text after the host, from the first slash or the first variable that may contain one. */
function pathOf(rest: string): string | undefined {
  if (rest.startsWith('unix:')) {
    const colon = rest.indexOf(':', 'unix:'.length);
    return colon === -1 || colon === rest.length - 1 ? undefined : rest.slice(colon + 1);
  }
  const at = rest.search(/[/$]/);
  return at === -1 ? undefined : rest.slice(at);
}

/** Variables with a path or a query as nginx interpreted it: decoded, merged, rewritten. */
function isUriVariable(path: string): boolean {
  return /^\$\{?(?:uri|document_uri|request_uri|request_filename|fastcgi_script_name|args|query_string|is_args)\b/.test(
    path,
  );
}
