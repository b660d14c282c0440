import { drawEpoch, NONCE_SLOT_SECONDS } from './nonces.ts';

/**
 * How long a used proof is stored, in seconds: longer than the three periods for which any server accepts it; the rest
 * allows for clocks that differ.
 */
export const PROOF_KEPT_SECONDS = 4 * NONCE_SLOT_SECONDS;

/** A verified proof, as a store remembers it. */
export interface SpendableProof {
  readonly id: string;
  /** The store's epoch when the proof's nonce was issued. */
  readonly epoch: string;
}

/** `forgotten`: the store may have lost proofs since the nonce of this one was issued, so it may have been used. */
export type Spending = 'spent' | 'replayed' | 'forgotten';

/** Stores which proofs were used. */
export interface SpentProofs {
  /** Changes whenever the store may have lost a proof. Nonces carry it. Undefined until it is known. */
  epoch(): string | undefined;
  /** Asks the store for its epoch. */
  learn(): Promise<void>;
  /** @throws if that cannot be determined; the request must then be refused */
  spend(proof: SpendableProof): Spending | Promise<Spending>;
}

const PROOFS_MAX = 1_000_000;

/** In the memory of this process only. @param now milliseconds, of a monotonic clock */
export function memorySpentProofs(now: () => number = performance.now.bind(performance)): SpentProofs {
  const own = drawEpoch();
  // In the order of their expiry, because all are kept equally long.
  const expiries = new Map<string, number>();
  return {
    epoch: () => own,
    async learn() {},
    spend({ id, epoch }) {
      if (epoch !== own) return 'forgotten';
      const at = now();
      for (const [spent, expiry] of expiries) {
        if (expiry > at) break;
        expiries.delete(spent);
      }
      if (expiries.has(id)) return 'replayed';
      if (expiries.size >= PROOFS_MAX) throw new Error('the store of used DPoP proofs is full');
      expiries.set(id, at + PROOF_KEPT_SECONDS * 1000);
      return 'spent';
    },
  };
}
