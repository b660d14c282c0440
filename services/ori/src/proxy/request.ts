import { CliError } from '../core/errors.ts';
import { requirePath } from '../core/proof-request.ts';

/** Carries the secret of the proxy, instead of the path. */
const SECRET_HEADER = 'x-ori-proxy-secret';

/** Who may use a proxy. */
export interface ProxyRules {
  /** The values of `Host`, such as `127.0.0.1:4999`: any other was resolved by somebody else's name. */
  readonly hosts: readonly string[];
  /** The origins of web pages that may use it. */
  readonly origins: readonly string[];
  isSecret(text: string): boolean;
}

/** The parts of a request that are judged. */
export interface ProxyRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Whether a browser asks if a page may send a request; it sends no header of the request with it. */
export function isPreflight({ method, headers }: ProxyRequest): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] === 'POST';
}

/** Throws CliError `not_proxied` for another host, or for a page of an origin that may not use the proxy. */
export function requirePlace({ headers }: ProxyRequest, { hosts, origins }: ProxyRules): void {
  if (!hosts.includes(String(headers['host']))) throw new CliError('not_proxied', { why: 'host' });
  const { origin } = headers;
  if (origin !== undefined && !origins.includes(String(origin)))
    throw new CliError('not_proxied', { why: 'origin' });
}

/**
 * The path to sign: what follows the secret, or the target as it is if a header has the secret. Throws CliError
 * `not_proxied` or `path_not_signable`.
 */
export function requireSignable({ method, target, headers }: ProxyRequest, { isSecret }: ProxyRules): string {
  const [, first = '', rest = ''] = /^\/([^/]*)(.*)$/.exec(target) ?? [];
  const inPath = isSecret(first);
  if (!inPath && !isSecret(String(headers[SECRET_HEADER] ?? '')))
    throw new CliError('not_proxied', { why: 'secret' });
  if (method !== 'POST') throw new CliError('not_proxied', { why: 'method' });
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw new CliError('not_proxied', { why: 'coding' });
  return requirePath(inPath ? rest : target);
}

/** The headers that let a page of an allowed origin read an answer. */
export function corsHeaders(request: ProxyRequest): Record<string, string> {
  const { origin, 'access-control-request-headers': asked } = request.headers;
  if (typeof origin !== 'string') return {};
  const ours = { 'access-control-allow-origin': origin, vary: 'origin' };
  if (!isPreflight(request)) return { ...ours, 'access-control-expose-headers': '*' };
  const allowed = typeof asked === 'string' && asked !== '' ? { 'access-control-allow-headers': asked } : {};
  return { ...ours, 'access-control-allow-methods': 'POST', ...allowed };
}

/** The origin of web pages, as browsers send it. Throws CliError `usage`. */
export function parseOrigin(text: string): string {
  if (URL.canParse(text) && new URL(text).origin === text) return text;
  throw new CliError('usage', {
    detail: '--allow-origin requires an origin, such as http://localhost:5173.',
  });
}
