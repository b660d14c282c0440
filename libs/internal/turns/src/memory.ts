import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { limiterOf, type TurnLimiter, type TurnLimiterOptions } from './limiter.ts';
import { type TurnCharge, type TurnCount, type TurnCounts, type TurnStore, UNSEEN_MS_MAX } from './store.ts';
import type { TurnLimits } from './turn.ts';

/** A limiter in this process's memory: for the standalone and for tests. */
export function createMemoryTurnLimiter(options: TurnLimiterOptions): TurnLimiter {
  return limiterOf(createMemoryTurns(options.windowSeconds), options);
}

function createMemoryTurns(duration: number): TurnStore {
  const options = { keyPrefix: '', points: Number.MAX_SAFE_INTEGER, duration };
  const user = new RateLimiterMemory(options);
  const organization = new RateLimiterMemory(options);
  // Serialized, so that nothing changes between the check and the charge.
  let last: Promise<unknown> = Promise.resolve();

  async function takeAlone(charge: TurnCharge, limits: TurnLimits): Promise<TurnCounts> {
    const before = {
      user: await look(user, charge.user, limits.user),
      organization: await look(organization, charge.organization, limits.organization),
    };
    if (!before.user.allowed || !before.organization.allowed) return before;
    return {
      user: counted(await user.consume(charge.user)),
      organization: counted(await organization.consume(charge.organization)),
    };
  }

  return {
    take(charge, limits) {
      const turn = last.then(() => takeAlone(charge, limits));
      last = turn.catch(() => {});
      return turn;
    },
    async refund(charge, left) {
      await refund(user, charge.user, left.user);
      await refund(organization, charge.organization, left.organization);
    },
  };
}

/** As REFUND_SCRIPT does. */
async function refund(limiter: RateLimiterMemory, key: string, leftMs: number): Promise<void> {
  const state = await limiter.get(key);
  if (state === null || state.consumedPoints === 0) return;
  const unseenMs = leftMs - state.msBeforeNext;
  if (unseenMs > -500 && unseenMs < UNSEEN_MS_MAX) await limiter.reward(key);
}

async function look(limiter: RateLimiterMemory, key: string, limit: number): Promise<TurnCount> {
  const state = await limiter.get(key);
  const empty = state === null || state.msBeforeNext <= 0;
  const used = empty ? 0 : state.consumedPoints;
  const msBeforeReset = empty ? limiter.duration * 1000 : state.msBeforeNext;
  return { allowed: used < limit, used, msBeforeReset };
}

function counted(state: RateLimiterRes): TurnCount {
  return { allowed: true, used: state.consumedPoints, msBeforeReset: state.msBeforeNext };
}
