import { hash } from 'node:crypto';
import type { RedisClient } from '@ori/redis/connection';
import { createRedisTurns } from './redis.ts';
import type { Claims, TurnCharge, TurnCounts, TurnStore, Unclaimed } from './store.ts';
import type { TurnLimits, TurnScope, TurnTaker, TurnVerdict, WindowsLeft } from './turn.ts';

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
export function limiterOf(store: TurnStore, options: TurnLimiterOptions) {
  const { turnsPerUser, turnsPerOrganization, windowSeconds } = options;
  const limitsOf = ({ limits }: TurnTaker): TurnLimits => ({
    user: limits?.user ?? turnsPerUser,
    organization: limits?.organization ?? turnsPerOrganization,
  });
  const { takeAndClaim } = store;
  return {
    /**
     * Refunds an allowed turn whose request failed, if its windows are still running.
     *
     * @throws if the store did not answer; the turn may then stay charged
     */
    async refund(who: TurnTaker, { windowEnds }: TurnVerdict): Promise<void> {
      if (windowEnds === undefined) return;
      const now = performance.now();
      const left = { user: windowEnds.user - now, organization: windowEnds.organization - now };
      await store.refund(chargeOf(who), left);
    },
    /**
     * Takes one turn of the user and one of the organization, or neither.
     *
     * @throws {TurnLimiterUnavailable} if the store did not answer for both. The request must then be refused.
     */
    async take(who: TurnTaker): Promise<TurnVerdict> {
      const limits = limitsOf(who);
      return verdict(await store.take(chargeOf(who), limits), limits, windowSeconds);
    },
    ...(takeAndClaim && {
      /**
       * Also claims keys in the same round trip. Absent if the keys are not all on one Redis.
       *
       * @returns also whether `allowed` was claimed: false if the turn was refused, or the key already exists
       * @throws {TurnLimiterUnavailable} as `take` does
       */
      takeAndClaim(
        who: TurnTaker,
        claims: Claims,
      ): Promise<{ verdict: TurnVerdict; claimed: boolean } | Unclaimed> {
        const limits = limitsOf(who);
        return takeAndClaim(chargeOf(who), limits, claims).then((taken) => {
          const { outcome } = taken;
          if (outcome === 'replayed' || outcome === 'forgotten') return outcome;
          const counts = taken.counts(limits, windowSeconds);
          return { verdict: verdict(counts, limits, windowSeconds), claimed: outcome === 'claimed' };
        });
      },
    }),
  };
}

export type TurnLimiter = ReturnType<typeof limiterOf>;

function chargeOf({ userId, organizationId }: TurnTaker): TurnCharge {
  return { user: turnKey('user', userId), organization: turnKey('organization', organizationId) };
}

/** The counter's key; the hash is the Cluster hash tag, because an id may contain any character. */
export function turnKey(scope: TurnScope, id: string): string {
  return `ori:turns:${scope}:{${hash('sha256', id, 'hex')}}`;
}

function verdict(counts: TurnCounts, limits: TurnLimits, windowSeconds: number): TurnVerdict {
  const scope = decisiveScope(counts, limits);
  const count = counts[scope];
  if (count === undefined) throw new TypeError('no counter was checked');
  const { allowed, used, msBeforeReset } = count;
  const resetSeconds = Math.max(1, Math.ceil(msBeforeReset / 1000));
  const common = { scope, resetSeconds, limits, windowSeconds };
  if (!allowed) return { ...common, allowed, remaining: 0, retryAfterSeconds: resetSeconds };
  return {
    ...common,
    allowed,
    remaining: Math.max(0, limits[scope] - used),
    windowEnds: windowEndsOf(counts),
  };
}

/** A refusal first, of two the one that ends later; otherwise the scope with fewer turns left. */
function decisiveScope({ user, organization }: TurnCounts, limits: TurnLimits): TurnScope {
  if (user === undefined) return 'organization';
  if (organization === undefined) return 'user';
  if (user.allowed !== organization.allowed) return user.allowed ? 'organization' : 'user';
  const isUsers = user.allowed
    ? limits.user - user.used <= limits.organization - organization.used
    : user.msBeforeReset >= organization.msBeforeReset;
  return isUsers ? 'user' : 'organization';
}

function windowEndsOf({ user, organization }: TurnCounts): WindowsLeft {
  const now = performance.now();
  return { user: now + (user?.msBeforeReset ?? 0), organization: now + (organization?.msBeforeReset ?? 0) };
}
