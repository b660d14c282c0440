import { drawEpoch } from './nonces.ts';
import { PROOF_KEPT_SECONDS, type SpentProofs } from './spent-proofs.ts';

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
