import { NONCE_SLOT_SECONDS } from './nonces.ts';

/**
 * How long a used proof is remembered, in seconds: longer than any server could still accept it. With a nonce that is
 * three slots, without one the window of `iat`; the rest is for clocks that differ.
 */
export const PROOF_KEPT_SECONDS = 4 * NONCE_SLOT_SECONDS;

/** Where it is remembered that a proof was used. */
export interface SpentProofs {
  /**
   * @param id of a verified proof
   * @returns false where it was used before
   * @throws where that cannot be found out: then nothing may be done in its name
   */
  spend(id: string): boolean | Promise<boolean>;
}

const PROOFS_MAX = 1_000_000;

/** Remembers in this process alone. @param now milliseconds, of a clock that does not step */
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
      if (expiries.size >= PROOFS_MAX) throw new Error('the memory of used DPoP proofs is full');
      expiries.set(id, at + PROOF_KEPT_SECONDS * 1000);
      return true;
    },
  };
}
