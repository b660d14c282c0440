import type { SpendableProof } from '@ori/identity/dpop/spent-proofs';
import type { EvictionWatch } from '@ori/redis/eviction';
import type { TurnLimiter } from '@ori/turns/limiter';
import type { Claims } from '@ori/turns/store';
import type { TurnTaker, TurnVerdict } from '@ori/turns/turn';
import { DependencyError } from '../core/dependency-error.ts';
import type { SigningParts } from '../core/sign-proof.ts';
import type { Reservation } from '../core/stages/draft-proof.ts';
import { TurnTaken } from '../core/stages/evidence.ts';
import type { Nonces } from './nonces.ts';
import type { ProofStore } from './spent-proofs.ts';

export interface TurnsOptions {
  readonly limiter: TurnLimiter;
  readonly nonces: Nonces;
  readonly spentProofs: ProofStore;
  readonly eviction?: EvictionWatch | undefined;
}

/**
 * The shared turn limiter, with the failures of its store as DependencyErrors. If turns, nonces and DPoP proofs are in one
 * Redis, the proof is spent and the nonce reserved in the same command; otherwise immediately before and after. A server
 * that may evict turns and nonces is refused.
 */
export function limiterTurns({
  limiter,
  nonces,
  spentProofs,
  eviction,
}: TurnsOptions): SigningParts['turns'] {
  const { takeAndClaim } = limiter;

  const unanswered = (cause: unknown): never => {
    throw new DependencyError('redis', 'the turn limiter did not answer', { cause });
  };

  /** Undefined unless all claims are in Redis. */
  function claimsOf(reservation?: Reservation, dpopProof?: SpendableProof): Claims | undefined {
    const allowed = reservation && nonces.claimOf?.(reservation);
    const first = dpopProof && spentProofs.claimOf?.(dpopProof);
    const isComplete = allowed !== undefined && (dpopProof === undefined || first !== undefined);
    return isComplete ? { first, allowed } : undefined;
  }

  function refund(who: TurnTaker, verdict: TurnVerdict): void {
    // If Redis fails, the turn stays charged until its window ends.
    limiter.refund(who, verdict).catch(() => {});
  }

  type Take = SigningParts['turns']['take'];

  const take: Take = (who, reservation, dpopProof) => {
    const claims = claimsOf(reservation, dpopProof);
    if (claims === undefined || takeAndClaim === undefined) return takeApart(who, reservation, dpopProof);
    return takeAndClaim(who, claims).then(
      (taken) => (typeof taken === 'string' ? taken : new TurnTaken(taken.verdict, taken.claimed)),
      unanswered,
    );
  };

  const takeApart: Take = async (who, reservation, dpopProof) => {
    const spending = dpopProof === undefined ? 'spent' : await spentProofs.spend(dpopProof);
    if (spending !== 'spent') return spending;
    const verdict = await limiter.take(who).catch(unanswered);
    if (!verdict.allowed || reservation === undefined) return new TurnTaken(verdict, false);
    try {
      return new TurnTaken(verdict, await nonces.reserve(reservation));
    } catch (error) {
      refund(who, verdict);
      throw error;
    }
  };

  return {
    take: (who, reservation, dpopProof) =>
      eviction === undefined || eviction.isSafe
        ? take(who, reservation, dpopProof)
        : eviction.require().then(() => take(who, reservation, dpopProof), unanswered),
    refund,
  };
}
