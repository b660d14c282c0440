import type { EvictionWatch } from '@ori/redis/eviction';
import type { TurnLimiter, TurnTaker, TurnVerdict } from '@ori/turns';
import type { SigningParts } from '../sign-proof.ts';
import { DependencyError } from './dependency-error.ts';
import type { Nonces } from './nonces.ts';

/**
 * The shared turn limiter, with the failures of its store as every other dependency's. The nonce is reserved with the turn
 * where one Redis holds both, else right after. It is the first that a signing request asks of Redis: a server that may
 * forget turns and nonces is refused here.
 */
export function limiterTurns(
  limiter: TurnLimiter,
  nonces: Nonces,
  eviction?: EvictionWatch,
): SigningParts['turns'] {
  const { takeAndClaim } = limiter;

  async function ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      if (eviction !== undefined && !eviction.isSafe) await eviction.require();
      return await question();
    } catch (cause) {
      throw new DependencyError('redis', 'the turn limiter gave no verdict', { cause });
    }
  }

  function refund(who: TurnTaker, verdict: TurnVerdict): void {
    // If Redis failed, the turn stays counted until its window ends.
    limiter.refund(who, verdict).catch(() => {});
  }

  return {
    async take(who, reservation) {
      const claim = reservation && nonces.claimOf?.(reservation);
      if (claim !== undefined && takeAndClaim !== undefined) {
        const { verdict, claimed } = await ask(() => takeAndClaim(who, claim));
        return { verdict, reserved: claimed };
      }
      const verdict = await ask(() => limiter.take(who));
      if (!verdict.allowed || reservation === undefined) return { verdict, reserved: false };
      try {
        return { verdict, reserved: await nonces.reserve(reservation) };
      } catch (error) {
        refund(who, verdict);
        throw error;
      }
    },
    refund,
  };
}
