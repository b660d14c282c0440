import type { EvictionWatch } from '@ori/service-kit/redis-eviction';
import type { TurnLimiter } from '@ori/service-kit/turns';
import { DependencyError } from './dependency-error.ts';

/**
 * The shared turn limiter, with the failures of its store as every other dependency's. It is the first that a signing
 * request asks of Redis: a server that may forget turns and nonces is refused here.
 */
export function limiterTurns(limiter: TurnLimiter, eviction?: EvictionWatch): TurnLimiter {
  return {
    async take(who) {
      try {
        if (eviction !== undefined && !eviction.isSafe) await eviction.require();
        return await limiter.take(who);
      } catch (cause) {
        throw new DependencyError('redis', 'the turn limiter gave no verdict', { cause });
      }
    },
  };
}
