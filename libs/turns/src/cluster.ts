import type { RedisClient } from '@ori/redis';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { requireIntegers } from './answer.ts';
import { createExhaustedKeys } from './exhausted.ts';
import { ScriptLimiter } from './script-limiter.ts';
import {
  type TurnCharge,
  type TurnCount,
  TurnLimiterUnavailable,
  type TurnLimits,
  type TurnScope,
  type TurnStore,
} from './store.ts';

/**
 * Counts one turn unless the limit is reached: a refused turn changes nothing, so that giving back a charge always
 * restores the state before it. Third in the answer is when the window ends, which names the window.
 */
const CHARGE_SCRIPT = `
local ttl = redis.call('pttl', KEYS[1])
if ttl == -1 then redis.call('pexpire', KEYS[1], ARGV[2]) end
local used = tonumber(redis.call('get', KEYS[1]) or '0')
if used + ARGV[1] > tonumber(ARGV[3]) then
  used = tonumber(ARGV[3]) + 1
elseif ttl == -2 then
  redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
  used = tonumber(ARGV[1])
else
  used = redis.call('incrby', KEYS[1], ARGV[1])
end
ttl = redis.call('pttl', KEYS[1])
local time = redis.call('time')
return {used, ttl, time[1] * 1000 + math.floor(time[2] / 1000) + ttl}
`;

/** Gives a turn back, but only to the window it was taken from: two windows end at least a second apart. */
const REFUND_SCRIPT = `
local ttl = redis.call('pttl', KEYS[1])
local time = redis.call('time')
local ends = time[1] * 1000 + math.floor(time[2] / 1000) + ttl
if ttl > 0 and math.abs(ends - ARGV[1]) < 500 and tonumber(redis.call('get', KEYS[1])) > 0 then
  redis.call('decr', KEYS[1])
  return 1
end
return 0
`;

interface Charged extends TurnCount {
  readonly windowEndMs: number;
}

/**
 * Turn counters in a Redis Cluster, where the keys live apart: charged by two commands sent in the same tick. When one
 * of them refuses, the other is given back. A counter that lately refused is asked alone first, so
 * that somebody who goes on asking past a limit does not even for a moment take turns from others. There is no second
 * store to fall back to.
 */
export function createClusterTurns(redis: RedisClient, limits: TurnLimits): TurnStore {
  const scripted = redis as RedisClient & TurnCommands;
  scripted.defineCommand('oriTurnCount', { numberOfKeys: 1, lua: CHARGE_SCRIPT });
  scripted.defineCommand('oriTurnRefund', { numberOfKeys: 1, lua: REFUND_SCRIPT });
  const limiters = { user: limiterOf(limits.user), organization: limiterOf(limits.organization) };
  const exhausted = createExhaustedKeys();
  const refund = (key: string, { windowEndMs }: Charged) => scripted.oriTurnRefund(key, windowEndMs);

  function limiterOf(points: number): ScriptLimiter<WindowState, undefined> {
    return new ScriptLimiter(
      redis,
      { points, windowSeconds: limits.windowSeconds },
      {
        charge: (key, windowMs) => scripted.oriTurnCount(key, 1, windowMs, points),
        read: (answer) => new WindowState(points, requireIntegers(answer, 3)),
      },
    );
  }

  async function charge(scope: TurnScope, key: string): Promise<Charged> {
    const {
      consumedPoints,
      msBeforeNext: msBeforeReset,
      windowEndMs,
    } = await limiters[scope].take(key, undefined);
    const limit = limits[scope];
    return {
      allowed: consumedPoints <= limit,
      used: Math.min(consumedPoints, limit),
      msBeforeReset,
      windowEndMs,
    };
  }

  function steps(keys: TurnCharge): readonly (readonly TurnScope[])[] {
    if (exhausted.has(keys.user)) return [['user'], ['organization']];
    if (exhausted.has(keys.organization)) return [['organization'], ['user']];
    return [['user', 'organization']];
  }

  return {
    async take(keys) {
      const charged = new Map<TurnScope, Charged>();
      let failure: unknown;
      for (const scopes of steps(keys)) {
        const outcomes = await Promise.allSettled(scopes.map((scope) => charge(scope, keys[scope])));
        for (const [index, scope] of scopes.entries()) {
          const outcome = outcomes[index];
          if (outcome?.status === 'fulfilled') charged.set(scope, outcome.value);
          else failure ??= outcome?.reason;
        }
        if (failure !== undefined || [...charged.values()].some(({ allowed }) => !allowed)) break;
      }
      const refused = [...charged].filter(([, { allowed }]) => !allowed);
      for (const [scope, { msBeforeReset }] of refused) exhausted.add(keys[scope], msBeforeReset);
      const giveBack = () =>
        Promise.all([...charged].map(([scope, count]) => count.allowed && refund(keys[scope], count)));
      if (failure !== undefined) {
        // Best effort: Redis is in trouble, and the request is refused whatever comes of it.
        giveBack().catch(() => {});
        throw new TurnLimiterUnavailable('the turn limiter did not answer', { cause: failure });
      }
      if (refused.length > 0) {
        await giveBack().catch((cause: unknown) => {
          throw new TurnLimiterUnavailable('a refused turn could not be given back', { cause });
        });
      }
      return Object.fromEntries(charged);
    },
  };
}

interface TurnCommands {
  oriTurnCount(key: string, turns: number, windowMs: number, limit: number): Promise<number[]>;
  oriTurnRefund(key: string, windowEndMs: number): Promise<number>;
}

class WindowState extends RateLimiterRes {
  readonly windowEndMs: number;

  constructor(limit: number, [used = 0, ttlMs = 0, windowEndMs = 0]: number[]) {
    super(Math.max(0, limit - used), ttlMs, used, used === 1);
    this.windowEndMs = windowEndMs;
  }
}
