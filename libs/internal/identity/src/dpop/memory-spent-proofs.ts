import { createExpiringSet } from '@ori/runtime/expiring-set';
import { drawEpoch } from './nonces.ts';
import { PROOF_KEPT_SECONDS, type SpentProofs } from './spent-proofs.ts';

/** In the memory of this process only. @param now milliseconds, of a monotonic clock */
export function memorySpentProofs(now?: () => number): SpentProofs {
  const own = drawEpoch();
  const spent = createExpiringSet(PROOF_KEPT_SECONDS * 1000, now);
  return {
    epoch: () => own,
    async learn() {},
    spend({ id, epoch }) {
      if (epoch !== own) return 'forgotten';
      return spent.add(id) ? 'spent' : 'replayed';
    },
  };
}
