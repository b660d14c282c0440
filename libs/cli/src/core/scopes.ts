import { CliError } from './errors.ts';

/** Scope of a grant that may sign. */
export const SIGNING_SCOPE = 'vault:read';
/** Scope of a grant that may list interns. */
export const LISTING_SCOPE = 'interns';
/** What the API can be asked for. */
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
 * own choice, replaces the API's scopes and is taken as it is; throws `usage` when it is not a list of
 * scopes.
 */
export function chooseScope(offered: ScopesOffered, narrowed?: string): string {
  const wanted =
    narrowed === undefined ? API_SCOPES.filter(offeredBy(offered.resource)) : parseScope(narrowed);
  const session = ['openid', ...['offline_access'].filter(offeredBy(offered.issuer))];
  return [...new Set([...session, ...wanted])].join(' ');
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
      next: 'For example: ori login --oidc --scope "vault:read"',
    });
  }
  return scopes;
}
