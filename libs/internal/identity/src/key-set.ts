import { type CryptoKey, createLocalJWKSet, errors, type JWK, type JWSHeaderParameters } from 'jose';
import { z } from 'zod';

/** How many keys are tried for one token, if its header does not name one of them alone. */
const CANDIDATES_MAX = 16;

/** The usable keys that fit `alg` and, if the header has it, `kid`; those after the 16th are left out. */
export type KeySet = (header: JWSHeaderParameters) => Promise<readonly CryptoKey[]>;

const entries = z.object({ keys: z.array(z.unknown()) });
const entry = z.looseObject({ kty: z.string() });

/**
 * Reads a JWK Set. Its entries are judged one by one: one that is malformed, or of an unknown kind, does not affect the
 * others (RFC 7517, section 5). The size of the document bounds their number.
 *
 * @throws Error if the value is not a JWK Set
 */
export function readKeySet(value: unknown): KeySet {
  const keys = entries.parse(value).keys.flatMap((key) => {
    const { data } = entry.safeParse(key);
    return data === undefined ? [] : [verifying(data as JWK)];
  });
  const choose = createLocalJWKSet({ keys });
  return async (header) => {
    try {
      return [await choose(header)];
    } catch (error) {
      if (error instanceof errors.JWKSMultipleMatchingKeys) return await firstOf(error);
      // No key with that id and algorithm, or an unusable one: there is no key for this token.
      const isUnusable =
        error instanceof errors.JOSEError || error instanceof TypeError || error instanceof DOMException;
      if (isUnusable) return [];
      throw error;
    }
  };
}

/**
 * Some issuers list the operations of both halves of a key pair, and WebCrypto imports no public key that signs. Ed25519 has
 * two names, which a key and a token of it need not share (RFC 9864, 2.2).
 */
function verifying(key: JWK): JWK {
  const { alg, ...nameless } = key;
  const isEd25519 = key.crv === 'Ed25519' && (alg === 'EdDSA' || alg === 'Ed25519');
  const isBoth = Array.isArray(key.key_ops) && key.key_ops.includes('verify');
  return { ...(isEd25519 ? nameless : key), ...(isBoth && { key_ops: ['verify'] }) };
}

async function firstOf(keys: AsyncIterable<CryptoKey>): Promise<readonly CryptoKey[]> {
  const first: CryptoKey[] = [];
  for await (const key of keys) {
    first.push(key);
    if (first.length === CANDIDATES_MAX) break;
  }
  return first;
}
