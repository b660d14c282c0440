import { PROOF_KEPT_SECONDS, type SpentProofs } from '@ori/dpop';
import type { RedisClient } from '@ori/redis';
import type { EvictionWatch } from '@ori/redis/eviction';
import { DependencyError } from './dependency-error.ts';

/** Remembers used DPoP proofs for all signers: one `SET NX PX` each, never repeated, refused where Redis may evict. */
export function redisSpentProofs(redis: RedisClient, eviction?: EvictionWatch): SpentProofs {
  return {
    async spend(id) {
      try {
        if (eviction !== undefined && !eviction.isSafe) await eviction.require();
        return (await redis.set(`ori:dpop:${id}`, '', 'PX', PROOF_KEPT_SECONDS * 1000, 'NX')) === 'OK';
      } catch (cause) {
        throw new DependencyError('redis', 'the DPoP proof could not be spent', { cause });
      }
    },
  };
}
