import { RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RedisClient } from './redis.ts';
import { type TurnCount, TurnLimiterUnavailable, type TurnLimits, type TurnStore } from './turns-store.ts';

/**
 * Counts one turn unless the limit is reached: a refused turn changes nothing, so that giving back a charge always
 * restores the state before it. Third in the answer is when the window ends, which names the window.
 */
const CHARGE_SCRIPT = `
local ttl = redis.call('pttl', KEYS[1])
if ttl == -1 then redis.call('pexpire', KEYS[1], ARGV[2] * 1000) end
local used = tonumber(redis.call('get', KEYS[1]) or '0')
if used + ARGV[1] > tonumber(ARGV[3]) then
  used = tonumber(ARGV[3]) + 1
elseif ttl == -2 then
  redis.call('set', KEYS[1], ARGV[1], 'PX', ARGV[2] * 1000)
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
 * Turn counters in Redis, one key each, charged by two commands sent in the same tick (in a Cluster the keys live
 * apart). When only one of them is charged, that one is given back. There is no second store to fall back to.
 */
export function createRedisTurns(redis: RedisClient, limits: TurnLimits): TurnStore {
  const limiter = (points: number) =>
    new WindowLimiter({
      storeClient: redis,
      keyPrefix: '',
      points,
      duration: limits.windowSeconds,
      customIncrTtlLuaScript: CHARGE_SCRIPT,
    });
  const user = limiter(limits.user);
  const organization = limiter(limits.organization);
  redis.defineCommand('oriTurnRefund', { numberOfKeys: 1, lua: REFUND_SCRIPT });
  const refund = (key: string, { windowEndMs }: Charged) =>
    (redis as RedisClient & RefundCommand).oriTurnRefund(key, windowEndMs);

  return {
    async take(charge) {
      const [ofUser, ofOrganization] = await Promise.allSettled([
        user.charge(charge.user),
        organization.charge(charge.organization),
      ]);
      const counts = { user: outcome(ofUser), organization: outcome(ofOrganization) };
      const giveBack = async () => {
        if (chargedAlone(counts.user, counts.organization)) await refund(charge.user, counts.user);
        if (chargedAlone(counts.organization, counts.user))
          await refund(charge.organization, counts.organization);
      };
      if (counts.user instanceof Error || counts.organization instanceof Error) {
        // Best effort: Redis is in trouble, and the request is refused whatever comes of it.
        giveBack().catch(() => {});
        const cause = counts.user instanceof Error ? counts.user : counts.organization;
        throw new TurnLimiterUnavailable('the turn limiter did not answer', { cause });
      }
      await giveBack().catch((cause: unknown) => {
        throw new TurnLimiterUnavailable('a refused turn could not be given back', { cause });
      });
      return { user: counts.user, organization: counts.organization };
    },
  };
}

interface RefundCommand {
  oriTurnRefund(key: string, windowEndMs: number): Promise<number>;
}

function outcome(settled: PromiseSettledResult<Charged>): Charged | Error {
  if (settled.status === 'fulfilled') return settled.value;
  return settled.reason instanceof Error
    ? settled.reason
    : new Error('unknown failure', { cause: settled.reason });
}

function chargedAlone(one: Charged | Error, other: Charged | Error): one is Charged {
  if (one instanceof Error || !one.allowed) return false;
  return other instanceof Error || !other.allowed;
}

class WindowLimiter extends RateLimiterRedis {
  async charge(key: string): Promise<Charged> {
    const state: unknown = await this.consume(key).catch((refusal: unknown) => refusal);
    if (!(state instanceof WindowState)) throw state;
    const { consumedPoints: used, msBeforeNext: msBeforeReset, windowEndMs } = state;
    return { allowed: used <= this.points, used: Math.min(used, this.points), msBeforeReset, windowEndMs };
  }

  /** Called by the base class for every answer of the script. */
  _getRateLimiterRes(_key: string, charged: number, [used, ttlMs, windowEndMs]: number[]): WindowState {
    return new WindowState(this.points, Number(used), Number(ttlMs), charged, Number(windowEndMs));
  }
}

class WindowState extends RateLimiterRes {
  readonly windowEndMs: number;

  constructor(limit: number, used: number, ttlMs: number, charged: number, windowEndMs: number) {
    super(Math.max(0, limit - used), ttlMs, used, used === charged);
    this.windowEndMs = windowEndMs;
  }
}
