import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { unescape as decode } from 'node:querystring';

/** The name of the only key that an agent on a Unix socket serves. */
export const AGENT_PATH = '/v1/transit/keys/kek';

export const KMS_URL_FORMS = 'https://…/v1/transit/keys/NAME or unix:/path/of/a/socket';

export interface TransitConfig {
  /** The address of the key in a transit engine, or `unix:` and the socket of an agent. */
  readonly kmsUrl: string;
  /** The file of the token, read for each call, so that a renewed token is used at once. */
  readonly kmsTokenFile?: string | undefined;
  /** For one call, from connecting to the last byte. */
  readonly timeoutMs?: number | undefined;
}

export interface Endpoint {
  readonly send: typeof requestHttp;
  readonly to: { readonly socketPath: string } | { readonly host: string; readonly port: string };
  readonly path: string;
}

/** Plain http only to this machine: the answer contains the KEK. */
export function isKmsUrl(text: string): boolean {
  return endpointOf(text) !== undefined;
}

export function endpointOf(text: string): Endpoint | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, port, pathname, search, hash, username, password } = new URL(text);
  if ([search, hash, username, password].some((part) => part !== '')) return undefined;
  if (protocol === 'unix:' && /^\/./.test(pathname)) {
    // Unlike decodeURIComponent, it takes a percent sign in a name as it is.
    return { send: requestHttp, to: { socketPath: decode(pathname) }, path: AGENT_PATH };
  }
  if (!/^(?:\/[\w.-]+)+\/keys\/[\w.-]+$/.test(pathname)) return undefined;
  const host = hostname.replace(/^\[|\]$/g, '');
  if (protocol === 'https:') return { send: requestHttps, to: { host, port: port || '443' }, path: pathname };
  const isLoopback = /^(?:127(?:\.\d+){3}|::1|localhost)$/.test(host);
  return protocol === 'http:' && isLoopback
    ? { send: requestHttp, to: { host, port: port || '80' }, path: pathname }
    : undefined;
}
