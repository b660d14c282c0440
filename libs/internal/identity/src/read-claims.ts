import type { TokenExpectation } from './expectation.ts';
import { IdentityError, tokenRefused as refused } from './identity-error.ts';

/** A token's claims, or an introspection answer. */
export type Claims = Readonly<Record<string, unknown>>;

export function subjectIn(claims: Claims, { claims: names }: TokenExpectation): string {
  const name = names?.subject ?? 'sub';
  const subject = claimAt(claims, name);
  if (!isString(subject) || subject === '' || subject.includes('\0') || !subject.isWellFormed())
    throw refused(name);
  return subject;
}

export function authTimeIn(
  claims: Claims,
  { claims: names, requiresAuthTime }: TokenExpectation,
): number | undefined {
  const name = names?.authTime ?? 'auth_time';
  const time = claimAt(claims, name);
  if (!isTimeOrAbsent(time)) throw refused(name);
  if (time === undefined && requiresAuthTime) throw refused(name);
  return time;
}

/** The scopes, as the issuer names them. Only a configured claim may be an array, like Okta's `scp`. */
export function scopesIn(claims: Claims, { claims: names }: TokenExpectation): string[] {
  const name = names?.scope ?? 'scope';
  const value = claimAt(claims, name);
  if (value === undefined) return [];
  if (isString(value)) return value.split(' ').filter((word) => word !== '');
  if (names?.scope === undefined || !Array.isArray(value) || !value.every(isString)) throw refused(name);
  return value;
}

export function ours(scopes: readonly string[], words: TokenExpectation['scopes']): readonly string[] {
  if (words === undefined) return scopes;
  return Object.keys(words).filter((our) => words[our]?.some((word) => scopes.includes(word)));
}

/**
 * RFC 9068, 2.2 names the client in `client_id`, some issuers in `azp` or a claim of their own. At least one is
 * required, and each one present must be accepted.
 */
export function requireClient(claims: Claims, expected: TokenExpectation): void {
  const given = clientsIn(claims, expected);
  const { claims: names, clients } = expected;
  const isMissing = names?.client !== undefined && claimAt(claims, names.client) === undefined;
  if (isMissing || given.length === 0) throw refused(names?.client ?? 'client');
  if (!given.every((client) => isString(client) && clients.includes(client))) throw refused('client');
}

export function clientsIn(claims: Claims, { claims: names }: TokenExpectation): unknown[] {
  const places = new Set(['client_id', 'azp', ...(names?.client === undefined ? [] : [names.client])]);
  return [...places].map((name) => claimAt(claims, name)).filter((client) => client !== undefined);
}

/**
 * The thumbprint of the key that a token is bound to (RFC 9449, 6.1); undefined if it is bound to none. Members beside it
 * that are not known are ignored (RFC 7800, 3.1); a token that is bound in another way alone is refused.
 */
export function thumbprintOf(cnf: unknown): string | undefined {
  if (cnf === undefined) return undefined;
  if (typeof cnf !== 'object' || cnf === null || Array.isArray(cnf)) throw refused('cnf');
  if (Object.keys(cnf).length === 0) return undefined;
  if (Object.hasOwn(cnf, 'x5t#S256')) {
    throw new IdentityError('certificate_bound', 'access token bound to a client certificate');
  }
  const jkt = own(cnf as Claims, 'jkt');
  if (typeof jkt !== 'string' || !/^[A-Za-z0-9_-]{43}$/.test(jkt)) throw refused('cnf');
  return jkt;
}

/** The value of a claim that the settings name: `ext.uid` is the claim of that name, else `uid` within `ext`. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return own(claims, name);
  return name.split('.').reduce<unknown>((within, part) => {
    const isObject = typeof within === 'object' && within !== null && !Array.isArray(within);
    return isObject ? own(within as Claims, part) : undefined;
  }, claims);
}

/** A claim's value. Some issuers write an absent claim as null. */
export function own(claims: Claims, name: string): unknown {
  const value = Object.hasOwn(claims, name) ? claims[name] : undefined;
  return value === null ? undefined : value;
}

export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [value]);

export const isOneOf = (value: unknown, words: readonly string[]): boolean =>
  value === undefined || words.includes(value as string);

export function isString(value: unknown): value is string {
  return typeof value === 'string';
}

export function isTime(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

export function isTimeOrAbsent(value: unknown): value is number | undefined {
  return value === undefined || isTime(value);
}
