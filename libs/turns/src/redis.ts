import type { RedisClient } from '@ori/redis';
import { Cluster } from 'ioredis';
import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import { requireIntegers } from './answer.ts';
import { createClusterTurns } from './cluster.ts';
import {
  type Claim,
  type TurnCharge,
  type TurnCounts,
  TurnLimiterUnavailable,
  type TurnLimits,
  type TurnStore,
} from './store.ts';

/**
 * Charges one turn to both counters, or to neither. Keys: user's, organization's; arguments: the window in
 * milliseconds, the two limits. A window that has no end gets one. With a third key, its value and its milliseconds, an
 * allowed turn claims it.
 */
const CHARGE_SCRIPT = `
local window = tonumber(ARGV[1])
local function look(key)
  local ttl = redis.call('pttl', key)
  if ttl == -1 then
    redis.call('pexpire', key, window)
    ttl = window
  end
  return { used = tonumber(redis.call('get', key) or '0'), ttl = ttl }
end
local function charge(key, count)
  if count.ttl == -2 then
    redis.call('set', key, 1, 'PX', window)
    return { used = 1, ttl = window }
  end
  return { used = redis.call('incrby', key, 1), ttl = count.ttl }
end
local user, organization = look(KEYS[1]), look(KEYS[2])
local free = user.used < tonumber(ARGV[2]) and organization.used < tonumber(ARGV[3])
local claimed = false
if free then
  user, organization = charge(KEYS[1], user), charge(KEYS[2], organization)
  claimed = KEYS[3] and redis.call('set', KEYS[3], ARGV[4], 'PX', ARGV[5], 'NX')
end
return { free and 1 or 0, user.used, user.ttl, organization.used, organization.ttl, claimed and 1 or 0 }
`;

/**
 * Turn counters in Redis. Where one server holds all keys, one script charges both counters or neither, so that a
 * refused turn changes nothing, not even for a moment. There is no second store to fall back to.
 */
export function createRedisTurns(redis: RedisClient, limits: TurnLimits): TurnStore {
  if (redis instanceof Cluster) return createClusterTurns(redis, limits);
  const limiter = new PairLimiter(redis as typeof redis & ChargeCommand, limits);
  return {
    take: async (charge) => (await limiter.take(charge)).counts,
    takeAndClaim: (charge, claim) => limiter.take(charge, claim),
  };
}

interface ChargeCommand {
  oriTurnCharge(numberOfKeys: number, ...args: (string | number | Buffer)[]): Promise<number[]>;
}

/** The library's limiter over two keys at once: its own script knows one. */
class PairLimiter extends RateLimiterRedis {
  readonly #redis: RedisClient & ChargeCommand;
  readonly #limits: TurnLimits;

  constructor(redis: RedisClient & ChargeCommand, limits: TurnLimits) {
    super({ storeClient: redis, keyPrefix: '', points: limits.user, duration: limits.windowSeconds });
    redis.defineCommand('oriTurnCharge', { lua: CHARGE_SCRIPT });
    this.#redis = redis;
    this.#limits = limits;
  }

  async take({ user, organization }: TurnCharge, claim?: Claim): Promise<PairState> {
    const others = { organization, claim } satisfies OtherKeys;
    const state: unknown = await this.consume(user, 1, others).catch((refusal: unknown) => refusal);
    if (state instanceof PairState) return state;
    throw new TurnLimiterUnavailable('the turn limiter did not answer', { cause: state });
  }

  /** Called by the base class to charge `points` to `user`; the other keys come with the options of `consume`. */
  _upsert(user: string, _points: number, windowMs: number, _force: boolean, others: OtherKeys) {
    const { organization, claim } = others;
    const limits = [windowMs, this.#limits.user, this.#limits.organization];
    return claim === undefined
      ? this.#redis.oriTurnCharge(2, user, organization, ...limits)
      : this.#redis.oriTurnCharge(3, user, organization, claim.key, ...limits, claim.value, claim.keptMs);
  }

  /** Called by the base class for every answer of the script. */
  _getRateLimiterRes(_user: string, _points: number, answer: unknown): PairState {
    return new PairState(requireIntegers(answer, 6), this.#limits);
  }
}

interface OtherKeys {
  readonly organization: string;
  readonly claim: Claim | undefined;
}

class PairState extends RateLimiterRes {
  readonly counts: TurnCounts;
  readonly claimed: boolean;

  constructor(
    [free, userUsed = 0, userTtlMs = 0, used = 0, ttlMs = 0, claimed]: number[],
    limits: TurnLimits,
  ) {
    // More than its points is what the base class takes for a refusal.
    super(0, userTtlMs, free === 1 ? 0 : limits.user + 1, false);
    const windowMs = limits.windowSeconds * 1000;
    const count = (usedTurns: number, limit: number, ttl: number) => ({
      allowed: free === 1 || usedTurns < limit,
      used: Math.min(usedTurns, limit),
      msBeforeReset: ttl < 0 ? windowMs : ttl,
    });
    this.counts = {
      user: count(userUsed, limits.user, userTtlMs),
      organization: count(used, limits.organization, ttlMs),
    };
    this.claimed = claimed === 1;
  }
}
