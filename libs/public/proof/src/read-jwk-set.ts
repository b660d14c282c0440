import { ED25519 } from './algorithms.ts';
import { base64url } from './base64.ts';
import { KeyError } from './errors.ts';
import { isObject, type Members } from './json-object.ts';
import { admitPublicKey } from './public-key.ts';
import type { VerificationKey } from './verification-key.ts';

/** Maximum number of keys in a set, of any kind. */
export const JWK_SET_KEYS_MAX = 100;

/** An Ed25519 signature key that was left out: its index in the set, and the reason. */
export interface RefusedKey {
  readonly index: number;
  readonly error: KeyError;
}

/**
 * The admitted keys of a JWK Set, in its order. Keys for other purposes (another `kty`, `crv`, `use`, `alg`, or `key_ops`
 * without `verify`) are ignored. An Ed25519 key that cannot be admitted, and a key of any type with its private part, is left out and
 * reported to `onRefused`, so that one bad key does not make the others unusable. With an empty result no proof can verify.
 *
 * @throws {KeyError} `key_set_malformed` if `value` is not a JWK Set (RFC 7517, section 5), `key_set_too_large` beyond
 * 100 keys.
 */
export function parseJwkSet(value: unknown, onRefused?: (refused: RefusedKey) => void): VerificationKey[] {
  if (!isObject(value) || !Array.isArray(value['keys'])) {
    throw new KeyError('key_set_malformed', 'a JWK Set is an object with an array of keys');
  }
  const entries: unknown[] = value['keys'];
  if (entries.length > JWK_SET_KEYS_MAX)
    throw new KeyError('key_set_too_large', 'the JWK Set lists more than 100 keys');
  const admitted = new Map<string, VerificationKey>();
  for (const [index, entry] of entries.entries()) {
    if (!isObject(entry)) throw new KeyError('key_set_malformed', 'a key of the JWK Set is not an object');
    try {
      requirePublic(entry);
      if (!isSignatureKey(entry)) continue;
      const key = admitJwk(entry);
      if (admitted.has(key.kid)) throw new KeyError('key_repeated', 'the key is listed twice');
      admitted.set(key.kid, key);
    } catch (error) {
      if (!(error instanceof KeyError)) throw error;
      onRefused?.({ index, error });
    }
  }
  return [...admitted.values()];
}

/** Whether it is a key for Ed25519 signatures. */
function isSignatureKey({ kty, crv, use, alg, key_ops: operations }: Members): boolean {
  if (use !== undefined && use !== 'sig') return false;
  if (operations !== undefined && !(Array.isArray(operations) && operations.includes('verify'))) return false;
  const { jwk, algs } = ED25519;
  return kty === jwk.kty && crv === jwk.crv && (alg === undefined || algs.some((known) => known === alg));
}

/** The private members of every registered key type: OKP, EC and RSA (RFC 7518, RFC 8037), oct, and AKP. */
const PRIVATE_MEMBERS = ['d', 'k', 'priv'] as const;

function requirePublic(jwk: Members): void {
  if (PRIVATE_MEMBERS.some((member) => member in jwk))
    throw new KeyError('key_private_part', 'a published key contains its private part');
}

function admitJwk({ x, kid, nbf, exp }: Members): VerificationKey {
  const publicKey = typeof x === 'string' ? base64url.decode(x, ED25519.publicKeyBytes) : undefined;
  if (publicKey === undefined) throw new KeyError('key_encoding', 'x is not 32 bytes of canonical base64url');
  const notBefore = readNumericDate(nbf);
  const expiresAt = readNumericDate(exp);
  const key = admitPublicKey(publicKey, {
    ...(notBefore === undefined ? {} : { notBefore }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  });
  if (kid !== undefined && kid !== key.kid) {
    throw new KeyError('key_id_mismatch', 'kid is not the thumbprint of the key');
  }
  return key;
}

/** Anything but a number becomes NaN, which no interval accepts. */
function readNumericDate(value: unknown): number | undefined {
  return value === undefined || typeof value === 'number' ? value : Number.NaN;
}
