import type { TurnLimiter } from '@ori/service-kit/turns';
import { DependencyError } from './dependency-error.ts';

/** The shared turn limiter, with the failures of its store as every other dependency's. */
export function limiterTurns(limiter: TurnLimiter): TurnLimiter {
  return {
    take: (who) =>
      limiter.take(who).catch((cause) => {
        throw new DependencyError('redis', 'the turn limiter gave no verdict', { cause });
      }),
  };
}
