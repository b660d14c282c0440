import { drawEpoch } from '@ori/identity/dpop/nonces';
import type { SpentProofs } from '@ori/identity/dpop/spent-proofs';
import type { ManagementQueries } from '@ori/store/management';

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
