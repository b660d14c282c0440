import type { RedisClient } from '@ori/redis/connection';
import { Cluster } from 'ioredis';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { createClusterTurns } from './cluster.ts';
import { EPOCH_LUA } from './epoch.ts';
import { requireIntegers, ScriptLimiter } from './script-limiter.ts';
import {
  type ClaimedTurn,
  type Claims,
  REFUND_SCRIPT,
  type TurnCounts,
  type TurnStore,
  type Unclaimed,
} from './store.ts';
import type { TurnLimits } from './turn.ts';

/**
 * Charges one turn to both counters, or to neither. Keys: the user's, the organization's; arguments: the
 * window in milliseconds and the two limits. A counter without an expiry, or with that of a longer window, gets one.
 *
 * The keys of `Claims` may follow: KEYS[3] is `allowed`, KEYS[4] is `first`. Each adds its value and its milliseconds to
 * the arguments. KEYS[5] is the epoch of `first`, with the expected one and the times.
 */
const CHARGE_SCRIPT = `
if KEYS[5] then
  ${EPOCH_LUA}
  if not is_epoch(KEYS[5], ARGV[8]) then return { 0, 0, 0, 0, 0, -2 } end
  if not is_between(ARGV[9], ARGV[10]) then return { 0, 0, 0, 0, 0, -2 } end
end
if KEYS[4] and not redis.call('set', KEYS[4], ARGV[6], 'PX', ARGV[7], 'NX') then return { 0, 0, 0, 0, 0, -1 } end
local window = tonumber(ARGV[1])
local function ttl_of(key)
  local ttl = redis.call('pttl', key)
  if ttl ~= -1 and ttl <= window then return ttl end
  redis.call('pexpire', key, window)
  return window
end
local function charge(key, ttl)
  if ttl ~= -2 then
    redis.call('incrby', key, '1')
    return ttl
  end
  redis.call('set', key, '1', 'PX', window)
  return window
end
local user, organization = tonumber(redis.call('get', KEYS[1]) or 0), tonumber(redis.call('get', KEYS[2]) or 0)
local user_ttl, organization_ttl = ttl_of(KEYS[1]), ttl_of(KEYS[2])
if user >= tonumber(ARGV[2]) or organization >= tonumber(ARGV[3]) then
  return { 0, user, user_ttl, organization, organization_ttl, 0 }
end
user_ttl, organization_ttl = charge(KEYS[1], user_ttl), charge(KEYS[2], organization_ttl)
local claimed = KEYS[3] and redis.call('set', KEYS[3], ARGV[4], 'PX', ARGV[5], 'NX')
return { 1, user + 1, user_ttl, organization + 1, organization_ttl, claimed and 1 or 0 }
`;

/**
 * Turn counters in a single Redis. One script charges both counters or neither, so a refused turn changes
 * nothing, not even briefly. There is no fallback store.
 */
export function createRedisTurns(redis: RedisClient, windowSeconds: number): TurnStore {
  if (redis instanceof Cluster) return createClusterTurns(redis, windowSeconds);
  const scripted = redis as typeof redis & TurnCommands;
  scripted.defineCommand('oriTurnCharge', { lua: CHARGE_SCRIPT });
  scripted.defineCommand('oriTurnRefund', { numberOfKeys: 1, lua: REFUND_SCRIPT });
  const limiter = new ScriptLimiter<PairState, OtherKeys>(redis, windowSeconds, {
    charge(user, windowMs, { organization, limits, claims }) {
      const turn = [windowMs, limits.user, limits.organization];
      if (claims === undefined) return scripted.oriTurnCharge(2, [user, organization], turn);
      const { allowed, first } = claims;
      const keys = [user, organization, allowed.key];
      const values = [...turn, allowed.value, allowed.keptMs];
      if (first !== undefined) {
        const { key, expected, from, until } = first.epoch;
        keys.push(first.key, key);
        values.push(first.value, first.keptMs, expected, from, until);
      }
      return scripted.oriTurnCharge(keys.length, keys, values);
    },
    read: (answer) => new PairState(requireIntegers(answer, 6)),
  });
  return {
    take: async ({ user, organization }, limits) =>
      (await limiter.take(user, { organization, limits })).counts(limits, windowSeconds),
    takeAndClaim: ({ user, organization }, limits, claims) =>
      limiter.take(user, { organization, limits, claims }),
    async refund(keys, left) {
      await Promise.all(
        (['user', 'organization'] as const).map((scope) => scripted.oriTurnRefund(keys[scope], left[scope])),
      );
    },
  };
}

interface TurnCommands {
  oriTurnCharge(
    numberOfKeys: number,
    keys: readonly string[],
    values: readonly (string | number)[],
  ): Promise<number[]>;
  oriTurnRefund(key: string, windowLeftMs: number): Promise<number>;
}

interface OtherKeys {
  readonly organization: string;
  readonly limits: TurnLimits;
  readonly claims?: Claims;
}

class PairState extends RateLimiterRes implements ClaimedTurn {
  readonly #answer: readonly number[];

  constructor(answer: number[]) {
    super();
    this.#answer = answer;
  }

  get outcome(): 'claimed' | Unclaimed | undefined {
    const claimed = this.#answer[5];
    if (claimed === -2) return 'forgotten';
    return claimed === -1 ? 'replayed' : claimed === 1 ? 'claimed' : undefined;
  }

  counts(limits: TurnLimits, windowSeconds: number): TurnCounts {
    /** @param at where the answer has the turns used, followed by the milliseconds left */
    const count = (limit: number, at: 1 | 3) => {
      const used = this.#answer[at] ?? 0;
      const ttlMs = this.#answer[at + 1] ?? 0;
      return {
        allowed: this.#answer[0] === 1 || used < limit,
        used: Math.min(used, limit),
        msBeforeReset: ttlMs < 0 ? windowSeconds * 1000 : ttlMs,
      };
    };
    return { user: count(limits.user, 1), organization: count(limits.organization, 3) };
  }
}
