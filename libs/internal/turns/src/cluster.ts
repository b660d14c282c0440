import type { RedisClient } from '@ori/redis/connection';
import { RateLimiterRes } from 'rate-limiter-flexible';
import { createExhaustedKeys } from './exhausted.ts';
import { requireIntegers, ScriptLimiter } from './script-limiter.ts';
import {
  REFUND_SCRIPT,
  type TurnCharge,
  type TurnCount,
  TurnLimiterUnavailable,
  type TurnStore,
} from './store.ts';
import type { TurnScope } from './turn.ts';

/**
 * Counts one turn unless the limit is reached: a refused turn changes nothing, so that refunding a charge always
 * restores the state before it.
 */
const CHARGE_SCRIPT = `
local ttl = redis.call('pttl', KEYS[1])
if ttl == -1 or ttl > tonumber(ARGV[2]) then redis.call('pexpire', KEYS[1], ARGV[2]) end
local used = tonumber(redis.call('get', KEYS[1]) or '0')
if used + ARGV[1] > tonumber(ARGV[3]) then
  used = tonumber(ARGV[3]) + 1
elseif ttl == -2 then
  redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2])
  used = tonumber(ARGV[1])
else
  used = redis.call('incrby', KEYS[1], ARGV[1])
end
return {used, redis.call('pttl', KEYS[1])}
`;

/**
 * Turn counters in a Redis Cluster, where the two keys are on different nodes: charged by two commands sent
 * together. If one refuses, the other is refunded. A counter that recently refused is asked first, alone, so
 * that a caller above its limit never takes turns from others, not even briefly. There is no fallback store.
 */
export function createClusterTurns(redis: RedisClient, windowSeconds: number): TurnStore {
  const scripted = redis as RedisClient & TurnCommands;
  scripted.defineCommand('oriTurnCount', { numberOfKeys: 1, lua: CHARGE_SCRIPT });
  scripted.defineCommand('oriTurnRefund', { numberOfKeys: 1, lua: REFUND_SCRIPT });
  const limiter = new ScriptLimiter<RateLimiterRes, number>(redis, windowSeconds, {
    charge: (key, windowMs, limit) => scripted.oriTurnCount(key, 1, windowMs, limit),
    read: (answer) => stateOf(requireIntegers(answer, 2)),
  });
  const exhausted = createExhaustedKeys();

  async function charge(key: string, limit: number): Promise<TurnCount> {
    const { consumedPoints, msBeforeNext } = await limiter.take(key, limit);
    return {
      allowed: consumedPoints <= limit,
      used: Math.min(consumedPoints, limit),
      msBeforeReset: msBeforeNext,
    };
  }

  function steps(keys: TurnCharge): readonly (readonly TurnScope[])[] {
    if (exhausted.has(keys.user)) return [['user'], ['organization']];
    if (exhausted.has(keys.organization)) return [['organization'], ['user']];
    return [['user', 'organization']];
  }

  return {
    async take(keys, limits) {
      const charged = new Map<TurnScope, TurnCount>();
      let failure: unknown;
      for (const scopes of steps(keys)) {
        const outcomes = await Promise.allSettled(
          scopes.map(async (scope) => [scope, await charge(keys[scope], limits[scope])] as const),
        );
        for (const outcome of outcomes) {
          if (outcome.status === 'fulfilled') charged.set(...outcome.value);
          else failure ??= outcome.reason;
        }
        if (failure !== undefined || [...charged.values()].some(({ allowed }) => !allowed)) break;
      }
      const refused = [...charged].filter(([, { allowed }]) => !allowed);
      for (const [scope, { msBeforeReset }] of refused) exhausted.add(keys[scope], msBeforeReset);
      const refund = () =>
        Promise.all(
          [...charged].map(
            ([scope, { allowed, msBeforeReset }]) =>
              allowed && scripted.oriTurnRefund(keys[scope], msBeforeReset),
          ),
        );
      if (failure !== undefined) {
        // Best effort: Redis is failing, and the request is refused in any case.
        refund().catch(() => {});
        throw new TurnLimiterUnavailable('the turn limiter did not answer', { cause: failure });
      }
      if (refused.length > 0) {
        await refund().catch((cause: unknown) => {
          throw new TurnLimiterUnavailable('a refused turn could not be refunded', { cause });
        });
      }
      return Object.fromEntries(charged);
    },
    async refund(keys, left) {
      await Promise.all(
        (['user', 'organization'] as const).map((scope) => scripted.oriTurnRefund(keys[scope], left[scope])),
      );
    },
  };
}

interface TurnCommands {
  oriTurnCount(key: string, turns: number, windowMs: number, limit: number): Promise<number[]>;
  oriTurnRefund(key: string, windowLeftMs: number): Promise<number>;
}

function stateOf([used = 0, ttlMs = 0]: number[]): RateLimiterRes {
  return new RateLimiterRes(0, ttlMs, used);
}
