import { holdsTimestamp, parseJwkSet, type VerificationKey } from '@ori/proof';

/** The published keys of an intern. */
export interface KeySet {
  /** @throws {UnavailableError} `keys_unavailable`. */
  current(): readonly VerificationKey[] | Promise<readonly VerificationKey[]>;
  /** Called when no current key verifies a proof. Resolves to the same array if nothing newer was published. */
  renew?(): Promise<readonly VerificationKey[]>;
}

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

const CANDIDATES_MAX = 3;

/** The keys that are valid at this timestamp: at most three, in the order of the set. */
export function candidatesAt(
  keys: readonly VerificationKey[],
  timestamp: number,
): readonly VerificationKey[] {
  const candidates: VerificationKey[] = [];
  for (const key of keys) {
    if (holdsTimestamp(key, timestamp) && candidates.push(key) === CANDIDATES_MAX) break;
  }
  return candidates;
}
