import { drawEpoch, type SpentProofs } from '@ori/identity/dpop';
import type { ManagementQueries } from '@ori/store';

/** Remembers used DPoP proofs in PostgreSQL, for all management processes. Throws `StoreUnavailable`. */
export function databaseSpentProofs(store: ManagementQueries): SpentProofs {
  let known: string | undefined;
  return {
    epoch: () => known,
    async learn() {
      known = await store.dpopEpoch(drawEpoch());
    },
    async spend(proof) {
      const { spending, epoch } = await store.spendDpopProof({ ...proof, fresh: drawEpoch() });
      known = epoch;
      return spending;
    },
  };
}
