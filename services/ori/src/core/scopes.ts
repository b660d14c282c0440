import { CliError } from './errors.ts';

export const SIGNING_SCOPE = 'vault:read';
export const LISTING_SCOPE = 'interns';
/** The scopes that the API and the issuer support. */
const SESSION_SCOPES = ['openid', 'offline_access'];
const API_SCOPES = [SIGNING_SCOPE, LISTING_SCOPE];
/** What a sign-in requests where everything is as usual. */
export const OUR_SCOPES = [...SESSION_SCOPES, ...API_SCOPES];
/** With the scopes of OpenID Connect Core 1.0, section 5.4. */
const OUR_WORDS = [...OUR_SCOPES, 'profile', 'email', 'address', 'phone'];

export interface ScopesOffered {
  /** `scopes_supported` of the protected resource, if present. */
  readonly resource: readonly string[] | undefined;
  /** `scopes_supported` of the issuer, if present. */
  readonly issuer: readonly string[] | undefined;
  /** What the API says to request, in the issuer's words. */
  readonly toRequest?: readonly string[] | undefined;
}

/**
 * The scope to request: `openid` always (to learn who signed in), `offline_access` unless the issuer does not support
 * it (without it, the user would sign in every few minutes), and the API's scopes that it offers. `narrowed`, the
 * user's choice, replaces the API's scopes; throws `usage` if it is not a list of scopes, or names one that the API
 * does not have. A prefix of the issuer before a scope is kept.
 */
export function chooseScope(offered: ScopesOffered, narrowed?: string): string {
  const wanted =
    narrowed === undefined
      ? (offered.toRequest ?? API_SCOPES.filter(offeredBy(offered.resource)))
      : parseScope(narrowed);
  if (narrowed !== undefined) requireKnown(wanted, offered);
  const session = ['openid', ...['offline_access'].filter(offeredBy(offered.issuer))];
  return [...new Set([...session, ...wanted])].join(' ');
}

/** Throws CliError `scope_not_granted` if the grant lacks a scope that the user named. */
export function requireGranted(named: string | undefined, granted: string): void {
  const missing = parseScope(named ?? 'openid').filter((scope) => !holdsSuffix(granted.split(' '), scope));
  if (named !== undefined && missing.length > 0) {
    throw new CliError('scope_not_granted', { scopes: missing });
  }
}

function requireKnown(wanted: readonly string[], { resource, issuer, toRequest = [] }: ScopesOffered): void {
  // Without a list, any scope may be supported.
  if (resource === undefined || issuer === undefined) return;
  const known = [...resource, ...toRequest, ...issuer, ...SESSION_SCOPES];
  const unknown = wanted.find((scope) => !known.some((name) => isSuffixed(scope, name)));
  if (unknown === undefined) return;
  throw new CliError('usage', {
    detail: `The API has no scope ${unknown}.`,
    next: `It has: ${resource.join(', ')}`,
  });
}

function holdsSuffix(granted: readonly string[], named: string): boolean {
  return granted.some((scope) => isSuffixed(scope, named) || isSuffixed(named, scope));
}

/** True for the scope itself, and with a prefix of the issuer, such as `api://ori/vault:read`. */
function isSuffixed(scope: string, name: string): boolean {
  return scope === name || (scope.endsWith(name) && /[/:.]$/.test(scope.slice(0, -name.length)));
}

export function holdsScope(scope: string, wanted: string): boolean {
  return scope.split(' ').includes(wanted);
}

/** Whether a session has a scope of the API; undefined if its scopes are unknown, or in words of the issuer. */
export function grantsScope(scope: string, wanted: string): boolean | undefined {
  if (holdsScope(scope, wanted)) return true;
  return scope.split(' ').every((word) => OUR_WORDS.includes(word)) ? false : undefined;
}

function offeredBy(list: readonly string[] | undefined): (scope: string) => boolean {
  return (scope) => list === undefined || list.includes(scope);
}

function parseScope(text: string): string[] {
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '');
  // RFC 6749, section 3.3: scope-token.
  if (scopes.length === 0 || !scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))) {
    throw new CliError('usage', {
      detail: '--scope requires scope names separated by spaces.',
      next: 'For example: ori login --scope "vault:read"',
    });
  }
  return scopes;
}
