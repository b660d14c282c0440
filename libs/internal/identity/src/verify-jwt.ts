import { compactVerify, decodeJwt, decodeProtectedHeader, errors } from 'jose';
import {
  checkTokenClaims,
  checkTokenHeader,
  TOKEN_ALGORITHMS,
  type TokenFacts,
  tokenTypeOf,
} from './access-token.ts';
import type { TokenExpectation } from './expectation.ts';
import { IdentityError, tokenRefused } from './identity-error.ts';
import type { Issuer } from './issuer.ts';
import type { Claims } from './read-claims.ts';

/**
 * Verifies a JWT access token (RFC 9068, 4). Header and claims are checked first, so that an unacceptable token does
 * not cause a fetch of keys; the signature is checked last.
 *
 * @throws IdentityError `bearer_refused`, `issuer_unavailable`
 */
export async function verifyJwt(
  token: string,
  expected: TokenExpectation,
  issuer: Pick<Issuer, 'keysFor'>,
  now: number,
): Promise<TokenFacts> {
  const header = orRefused(() => decodeProtectedHeader(token));
  const type = checkTokenHeader(header, expected.tokenTypes);
  const claims = claimsOf(token);
  const facts = checkTokenClaims(claims, expected, now, type);
  const { alg, kid } = header;
  const wanted = { ...(alg === undefined ? {} : { alg }), ...(kid === undefined ? {} : { kid }) };
  let cause: unknown;
  for await (const key of issuer.keysFor(wanted)) {
    try {
      await compactVerify(token, key, { algorithms: [...TOKEN_ALGORITHMS] });
      return facts;
    } catch (error) {
      if (!(error instanceof errors.JOSEError || error instanceof TypeError)) throw error;
      cause = error;
    }
  }
  const why = cause === undefined ? 'under an unknown key' : 'with a bad signature';
  throw new IdentityError('bearer_refused', `access token ${why}`, { cause });
}

/** What a JWT claims; its `iss` selects the settings for its verification. @throws IdentityError `bearer_refused` */
export function claimsOf(token: string): Claims {
  return orRefused(() => decodeJwt(token));
}

/**
 * Whether the type of a JWT is that of an access token by the settings of its issuer.
 *
 * @throws IdentityError `bearer_refused` if nobody has signed it
 */
export function isAccessToken(token: string, { tokenTypes = ['at+jwt'] }: TokenExpectation): boolean {
  const { alg, typ } = orRefused(() => decodeProtectedHeader(token));
  if (typeof alg !== 'string' || /^none$/i.test(alg)) throw tokenRefused('alg');
  const type = tokenTypeOf(typ);
  return type !== undefined && tokenTypes.includes(type);
}

function orRefused<T>(decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw new IdentityError('bearer_refused', 'not a JWT', { cause });
  }
}
