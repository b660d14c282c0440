import { parseJwkSet } from '@ori/proof/read-jwk-set';
import type { VerificationKey } from '@ori/proof/verification-key';
import type { KeySet } from './key-set.ts';

/**
 * A key set from the daemon's configuration: no network access, and no rotation without a restart.
 * @throws {TypeError} unless `jwks` is a JWK Set whose Ed25519 keys can all be admitted.
 */
export function createLocalKeySet(jwks: unknown): KeySet {
  const keys = readKeys(jwks);
  if (keys.length === 0) throw new TypeError('jwks: no Ed25519 signature key');
  return { current: () => keys };
}

function readKeys(jwks: unknown): readonly VerificationKey[] {
  try {
    return parseJwkSet(jwks, ({ error }) => {
      throw error;
    });
  } catch (cause) {
    throw new TypeError('jwks: a key of the set cannot be admitted', { cause });
  }
}
