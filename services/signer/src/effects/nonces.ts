import { createNonce } from '@ori/proof/signing';
import { onNodeReady, type RedisClient } from '@ori/redis/connection';
import type { Claim } from '@ori/turns/store';
import { issuedKey, issuedValue, loadRedisScripts } from '@ori/verifier/redis/reservation';
import { DependencyError } from '../core/dependency-error.ts';
import type { Reservation } from '../core/stages/draft-proof.ts';

/** Reserves nonces, so that none is issued twice, even by a broken random source. */
export interface Nonces {
  draw(): string;
  /** @returns false if the nonce was taken. @throws DependencyError `redis` */
  reserve(reservation: Reservation): Promise<boolean>;
  /** A reservation as a Redis claim; absent if nonces are not reserved in Redis. */
  claimOf?(reservation: Reservation): Claim;
}

/**
 * Reserves in Redis, where a daemon that shares it can redeem: one `SET NX PX`, never repeated. At each
 * connection it loads the scripts that such daemons call, because their Redis user may not load any.
 *
 * @param keptSeconds how long a proof may be accepted after its timestamp, including clock tolerance and rounding
 */
export function redisNonces(redis: RedisClient, keptSeconds: number): Nonces {
  onNodeReady(redis, loadRedisScripts);
  const claimOf = ({ internId, nonce, signingInput }: Reservation): Claim => ({
    key: issuedKey(internId, nonce),
    value: issuedValue(signingInput),
    keptMs: keptSeconds * 1000,
  });
  return {
    draw: createNonce,
    claimOf,
    async reserve(reservation) {
      const { key, value, keptMs } = claimOf(reservation);
      try {
        return (await redis.set(key, value, 'PX', keptMs, 'NX')) === 'OK';
      } catch (cause) {
        throw new DependencyError('redis', 'the nonce could not be reserved', { cause });
      }
    },
  };
}
