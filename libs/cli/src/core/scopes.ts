import { CliError } from './errors.ts';

/** Scope of a grant that may sign. */
export const SIGNING_SCOPE = 'vault:read';
/** Scope of a grant that may list interns. */
export const LISTING_SCOPE = 'interns';
/** What the API can be asked for. */
const SESSION_SCOPES = ['openid', 'offline_access'];
const API_SCOPES = [SIGNING_SCOPE, LISTING_SCOPE];

export interface ScopesOffered {
  /** `scopes_supported` of the protected resource, when it says. */
  readonly resource: readonly string[] | undefined;
  /** `scopes_supported` of the issuer, when it says. */
  readonly issuer: readonly string[] | undefined;
}

/**
 * The scope to ask for. `openid` always (who signed in), `offline_access` unless the issuer does not know it
 * (else every few minutes another sign-in), and of the API's scopes those it offers. `narrowed`, the user's
 * own choice, replaces the API's scopes; throws `usage` when it is not a list of scopes, or names one that
 * the API does not have. An issuer's prefix before a scope is taken as it is.
 */
export function chooseScope(offered: ScopesOffered, narrowed?: string): string {
  const wanted =
    narrowed === undefined ? API_SCOPES.filter(offeredBy(offered.resource)) : parseScope(narrowed);
  if (narrowed !== undefined) requireKnown(wanted, offered);
  const session = ['openid', ...['offline_access'].filter(offeredBy(offered.issuer))];
  return [...new Set([...session, ...wanted])].join(' ');
}

/** Throws CliError `scope_not_granted` when a scope that the user named is not in the grant. */
export function requireGranted(named: string | undefined, granted: string): void {
  const missing = parseScope(named ?? 'openid').filter((scope) => !holdsSuffix(granted.split(' '), scope));
  if (named !== undefined && missing.length > 0) {
    throw new CliError('scope_not_granted', { scopes: missing });
  }
}

function requireKnown(wanted: readonly string[], { resource, issuer }: ScopesOffered): void {
  // Whoever does not say what there is may have anything.
  if (resource === undefined || issuer === undefined) return;
  const known = [...resource, ...issuer, ...SESSION_SCOPES];
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

/** True for the scope itself, and with a prefix of the issuer's, such as `api://ori/vault:read`. */
function isSuffixed(scope: string, name: string): boolean {
  return scope === name || (scope.endsWith(name) && /[/:.]$/.test(scope.slice(0, -name.length)));
}

/** True when the space-separated scope holds this one. */
export function holdsScope(scope: string, wanted: string): boolean {
  return scope.split(' ').includes(wanted);
}

function offeredBy(list: readonly string[] | undefined): (scope: string) => boolean {
  return (scope) => list === undefined || list.includes(scope);
}

function parseScope(text: string): string[] {
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '');
  // RFC 6749, section 3.3: scope-token.
  if (scopes.length === 0 || !scopes.every((scope) => /^[\x21\x23-\x5b\x5d-\x7e]+$/.test(scope))) {
    throw new CliError('usage', {
      detail: '--scope takes scope names separated by spaces.',
      next: 'For example: ori login --scope "vault:read"',
    });
  }
  return scopes;
}
