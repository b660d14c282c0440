import { compactVerify, decodeJwt, decodeProtectedHeader, errors } from 'jose';
import {
  checkTokenClaims,
  checkTokenHeader,
  TOKEN_ALGORITHMS,
  type TokenExpectation,
  type TokenFacts,
} from './access-token.ts';
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
  checkTokenHeader(header);
  const facts = checkTokenClaims(
    orRefused(() => decodeJwt(token)),
    expected,
    now,
  );
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

function orRefused<T>(decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw new IdentityError('bearer_refused', 'not a JWT', { cause });
  }
}
