import { CliError } from './errors.ts';
import { parseJson } from './parse-json.ts';
import { expiryOf, isJwt, type Session } from './session.ts';

/** b64token of RFC 6750, section 2.1: the characters that the header allows. */
const BEARER = /^[A-Za-z0-9._~+/-]+=*$/;

export function isBearer(token: string): boolean {
  return BEARER.test(token);
}

/**
 * The session of a given access token, in `ORI_TOKEN` or on stdin. Subject, expiry and issuer are read from a JWT
 * without verification, only for display: the API decides. Throws CliError `token_unusable` if the text is not a bearer
 * token; the text is not repeated.
 */
export function sessionOfToken(token: string, baseUrl: string, nowSeconds: number): Session {
  const trimmed = token.trim();
  if (trimmed === '') throw new CliError('token_unusable', { why: 'it is empty' });
  if (!isBearer(trimmed)) throw new CliError('token_unusable', { why: 'it is not a bearer token' });
  const { sub, iss, exp, scope, cnf } = claimsOf(trimmed);
  const thumbprint = typeof cnf === 'object' && cnf !== null && 'jkt' in cnf ? cnf.jkt : undefined;
  return {
    version: 1,
    base_url: baseUrl,
    resource: baseUrl,
    issuer: textOr(iss, ''),
    client_id: null,
    subject: textOr(sub, 'unknown'),
    name: null,
    scope: textOr(scope, ''),
    access_token: trimmed,
    expires_at: expiryOf(exp),
    refresh_token: null,
    signed_in_at: nowSeconds,
    renewed_at: nowSeconds,
    ...(typeof thumbprint === 'string' && { key_thumbprint: thumbprint }),
  };
}

/** The claims of a JWT, not verified; none for an opaque token. */
export function claimsOf(token: string): Record<string, unknown> {
  if (!isJwt(token)) return {};
  const payload = parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString('utf8'));
  return typeof payload === 'object' && payload !== null ? { ...payload } : {};
}

function textOr(value: unknown, fallback: string): string {
  return typeof value === 'string' ? value : fallback;
}
