import type { EvictionWatch } from '@ori/redis/eviction';
import type { Claims, TurnLimiter, TurnTaker, TurnVerdict } from '@ori/turns';
import type { SigningParts } from '../sign-proof.ts';
import type { Reservation } from '../stages/draft-proof.ts';
import { DependencyError } from './dependency-error.ts';
import type { Nonces } from './nonces.ts';
import type { ProofStore } from './spent-proofs.ts';

export interface TurnsOptions {
  readonly limiter: TurnLimiter;
  readonly nonces: Nonces;
  readonly spentProofs: ProofStore;
  readonly eviction?: EvictionWatch | undefined;
}

/**
 * The shared turn limiter, with the failures of its store as every other dependency's. Where one Redis holds all of them, the
 * DPoP proof is spent and the nonce reserved in the same command; else right before and right after. A server that may
 * forget turns and nonces is refused.
 */
export function limiterTurns({
  limiter,
  nonces,
  spentProofs,
  eviction,
}: TurnsOptions): SigningParts['turns'] {
  const { takeAndClaim } = limiter;

  async function ask<T>(question: () => Promise<T>): Promise<T> {
    try {
      if (eviction !== undefined && !eviction.isSafe) await eviction.require();
      return await question();
    } catch (cause) {
      throw new DependencyError('redis', 'the turn limiter gave no verdict', { cause });
    }
  }

  /** Undefined unless all that there is to claim is in Redis. */
  function claimsOf(reservation?: Reservation, dpopProofId?: string): Claims | undefined {
    const allowed = reservation && nonces.claimOf?.(reservation);
    const first = dpopProofId === undefined ? undefined : spentProofs.claimOf?.(dpopProofId);
    const isComplete = allowed !== undefined && (dpopProofId === undefined || first !== undefined);
    return isComplete ? { first, allowed } : undefined;
  }

  function refund(who: TurnTaker, verdict: TurnVerdict): void {
    // If Redis failed, the turn stays counted until its window ends.
    limiter.refund(who, verdict).catch(() => {});
  }

  return {
    async take(who, reservation, dpopProofId) {
      const claims = claimsOf(reservation, dpopProofId);
      if (claims !== undefined && takeAndClaim !== undefined) {
        const taken = await ask(() => takeAndClaim(who, claims));
        return taken && { verdict: taken.verdict, reserved: taken.claimed };
      }
      if (dpopProofId !== undefined && !(await spentProofs.spend(dpopProofId))) return undefined;
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
