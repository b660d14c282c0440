import { NONCE_SLOT_SECONDS } from './nonces.ts';

/**
 * How long a used proof is stored, in seconds: longer than any server accepts it. With a nonce that is three periods,
 * without one the window of `iat`; the rest allows for clocks that differ.
 */
export const PROOF_KEPT_SECONDS = 4 * NONCE_SLOT_SECONDS;

/** Stores which proofs were used. */
export interface SpentProofs {
  /**
   * @param id of a verified proof
   * @returns false if it was used before
   * @throws if that cannot be determined; the request must then be refused
   */
  spend(id: string): boolean | Promise<boolean>;
}

const PROOFS_MAX = 1_000_000;

/** In the memory of this process only. @param now milliseconds, of a monotonic clock */
export function memorySpentProofs(now: () => number = performance.now.bind(performance)): SpentProofs {
  // In the order of their expiry, because all are kept equally long.
  const expiries = new Map<string, number>();
  return {
    spend(id) {
      const at = now();
      for (const [spent, expiry] of expiries) {
        if (expiry > at) break;
        expiries.delete(spent);
      }
      if (expiries.has(id)) return false;
      if (expiries.size >= PROOFS_MAX) throw new Error('the store of used DPoP proofs is full');
      expiries.set(id, at + PROOF_KEPT_SECONDS * 1000);
      return true;
    },
  };
}
