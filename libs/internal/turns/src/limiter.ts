import { hash } from 'node:crypto';
import type { RedisClient } from './redis/connection.ts';
import { createRedisTurns } from './redis.ts';
import type { Claims, TurnCharge, TurnCounts, TurnLimits, TurnStore, Unclaimed } from './store.ts';
import type { TurnPolicy, TurnScope, TurnTaker, TurnVerdict, WindowsLeft } from './turn.ts';

export interface TurnLimiter {
  /**
   * Takes one turn of the user and one of the organization, or neither.
   *
   * @throws {TurnLimiterUnavailable} if the store did not answer for both. The request must then be refused.
   */
  take(who: TurnTaker): Promise<TurnVerdict>;
  /**
   * Also claims keys in the same round trip. Absent if the keys are not all on one Redis.
   *
   * @returns also whether `allowed` was claimed: false if the turn was refused, or the key already exists
   * @throws {TurnLimiterUnavailable} as `take` does
   */
  takeAndClaim?(
    who: TurnTaker,
    claims: Claims,
  ): Promise<{ verdict: TurnVerdict; claimed: boolean } | Unclaimed>;
  /**
   * Refunds an allowed turn whose request failed, if its windows are still running.
   *
   * @throws if the store did not answer; the turn may then stay charged
   */
  refund(who: TurnTaker, verdict: TurnVerdict): Promise<void>;
}

export interface TurnLimiterOptions {
  readonly turnsPerUser: number;
  readonly turnsPerOrganization: number;
  readonly windowSeconds: number;
}

/**
 * The limit on turns, shared by chat and signing through its key names: fixed windows that begin with their first
 * turn, in Redis for any number of processes. Refused turns are not charged.
 */
export function createTurnLimiter(
  options: TurnLimiterOptions & { readonly redis: RedisClient },
): TurnLimiter {
  return limiterOf(createRedisTurns(options.redis, options.windowSeconds), options);
}

/** A limiter whose counters are in this store. */
export function limiterOf(store: TurnStore, options: TurnLimiterOptions): TurnLimiter {
  const { turnsPerUser, turnsPerOrganization, windowSeconds } = options;
  const limitsOf = ({ limits }: TurnTaker): TurnLimits => ({
    user: limits?.user ?? turnsPerUser,
    organization: limits?.organization ?? turnsPerOrganization,
  });
  const policiesOf = (limits: TurnLimits): TurnPolicy[] =>
    (['user', 'organization'] as const).map((scope) => ({ scope, limit: limits[scope], windowSeconds }));
  const { takeAndClaim } = store;
  return {
    async refund(who, { windowEnds }) {
      if (windowEnds === undefined) return;
      const now = performance.now();
      const left = { user: windowEnds.user - now, organization: windowEnds.organization - now };
      await store.refund(chargeOf(who), left);
    },
    async take(who) {
      const limits = limitsOf(who);
      return verdict(await store.take(chargeOf(who), limits), policiesOf(limits));
    },
    ...(takeAndClaim && {
      async takeAndClaim(who, claims) {
        const limits = limitsOf(who);
        const taken = await takeAndClaim(chargeOf(who), limits, claims);
        if (typeof taken === 'string') return taken;
        return { verdict: verdict(taken.counts, policiesOf(limits)), claimed: taken.claimed };
      },
    }),
  };
}

function chargeOf({ userId, organizationId }: TurnTaker): TurnCharge {
  return { user: turnKey('user', userId), organization: turnKey('organization', organizationId) };
}

/** The counter's key; the hash is the Cluster hash tag, because an id may contain any character. */
export function turnKey(scope: TurnScope, id: string): string {
  return `ori:turns:${scope}:{${hash('sha256', id, 'hex')}}`;
}

function verdict(counts: TurnCounts, policies: readonly TurnPolicy[]): TurnVerdict {
  const states = policies.flatMap((policy) => {
    const count = counts[policy.scope];
    if (count === undefined) return [];
    const resetSeconds = Math.max(1, Math.ceil(count.msBeforeReset / 1000));
    return {
      ...policy,
      allowed: count.allowed,
      remaining: Math.max(0, policy.limit - count.used),
      resetSeconds,
    };
  });
  const refused = states.filter((state) => !state.allowed);
  // Of two refusals, the one that ends later; otherwise the scope with fewer turns left.
  const [decisive] =
    refused.length > 0
      ? refused.sort((a, b) => b.resetSeconds - a.resetSeconds)
      : states.sort((a, b) => a.remaining - b.remaining);
  if (decisive === undefined) throw new TypeError('no counter was checked');
  const { scope, limit, remaining, resetSeconds } = decisive;
  const nearest = { scope, limit, resetSeconds, policies };
  if (refused.length === 0) return { allowed: true, remaining, ...nearest, windowEnds: windowEndsOf(counts) };
  return { allowed: false, remaining: 0, retryAfterSeconds: resetSeconds, ...nearest };
}

function windowEndsOf({ user, organization }: TurnCounts): WindowsLeft {
  const now = performance.now();
  return { user: now + (user?.msBeforeReset ?? 0), organization: now + (organization?.msBeforeReset ?? 0) };
}
