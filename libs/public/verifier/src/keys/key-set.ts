import { holdsTimestamp, type VerificationKey } from '@ori/proof/verification-key';

/** The published keys of an intern. */
export interface KeySet {
  /** @throws {UnavailableError} `keys_unavailable`. */
  current(): readonly VerificationKey[] | Promise<readonly VerificationKey[]>;
  /** Called when no current key verifies a proof. Resolves to the same array if no newer set was fetched. */
  renew?(): Promise<readonly VerificationKey[]>;
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
