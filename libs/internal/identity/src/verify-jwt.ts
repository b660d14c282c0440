import { compactVerify, decodeJwt, decodeProtectedHeader, errors } from 'jose';
import { checkTokenClaims, checkTokenHeader, TOKEN_ALGORITHMS, type TokenFacts } from './access-token.ts';
import type { TokenExpectation } from './expectation.ts';
import { IdentityError } from './identity-error.ts';
import type { Issuer } from './issuer.ts';

/**
 * Verifies a JWT access token (RFC 9068, 4). Header and claims are checked first, so that an unacceptable token does
 * not cause a fetch of keys; the signature is checked last.
 *
 * @throws IdentityError `bearer_refused`, `issuer_unavailable`
 */
export async function verifyJwt(
  token: string,
  expected: TokenExpectation,
  issuer: Pick<Issuer, 'keyFor'>,
  now: number,
): Promise<TokenFacts> {
  const header = orRefused(() => decodeProtectedHeader(token));
  const type = checkTokenHeader(header, expected.tokenTypes);
  const claims = orRefused(() => decodeJwt(token));
  const facts = checkTokenClaims(claims, expected, now, type);
  const { alg, kid } = header;
  const key = await issuer.keyFor({
    ...(alg === undefined ? {} : { alg }),
    ...(kid === undefined ? {} : { kid }),
  });
  if (key === undefined) throw new IdentityError('bearer_refused', 'access token under an unknown key');
  try {
    await compactVerify(token, key, { algorithms: [...TOKEN_ALGORITHMS] });
  } catch (cause) {
    if (!(cause instanceof errors.JOSEError || cause instanceof TypeError)) throw cause;
    throw new IdentityError('bearer_refused', 'access token with a bad signature', { cause });
  }
  return facts;
}

/** The `iss` that a JWT claims, which selects the settings for its verification. @throws IdentityError `bearer_refused` */
export function issuerClaimOf(token: string): unknown {
  return orRefused(() => decodeJwt(token)).iss;
}

function orRefused<T>(decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw new IdentityError('bearer_refused', 'not a JWT', { cause });
  }
}
