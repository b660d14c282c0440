import { PROOF_KEPT_SECONDS, type SpentProofs } from '@ori/dpop';
import type { RedisClient } from '@ori/redis';
import type { EvictionWatch } from '@ori/redis/eviction';
import type { Claim } from '@ori/turns';
import { DependencyError } from './dependency-error.ts';

/** Where used DPoP proofs are stored. */
export interface ProofStore extends SpentProofs {
  /** A spent proof as Redis stores it; absent if they are not in Redis. */
  claimOf?(id: string): Claim;
}

/** Remembers used DPoP proofs for all signers: one `SET NX PX` each, never repeated, refused where Redis may evict. */
export function redisSpentProofs(redis: RedisClient, eviction?: EvictionWatch): ProofStore {
  const claimOf = (id: string): Claim => ({
    key: `ori:dpop:${id}`,
    value: '',
    keptMs: PROOF_KEPT_SECONDS * 1000,
  });
  return {
    claimOf,
    async spend(id) {
      const { key, value, keptMs } = claimOf(id);
      try {
        if (eviction !== undefined && !eviction.isSafe) await eviction.require();
        return (await redis.set(key, value, 'PX', keptMs, 'NX')) === 'OK';
      } catch (cause) {
        throw new DependencyError('redis', 'the DPoP proof could not be spent', { cause });
      }
    },
  };
}
