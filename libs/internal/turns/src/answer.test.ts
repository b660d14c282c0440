import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createClusterTurns } from './cluster.ts';
import { createTurnLimiter, TurnLimiterUnavailable } from './limiter.ts';

const limits = { user: 3, organization: 5, windowSeconds: 60 };
const who = { userId: 'ada', organizationId: 'engines' };
const keys = { user: 'u', organization: 'o' };

/** A connection on which every script has the same answer. */
function answering(answer: unknown): Redis {
  const script = async () => answer;
  return { defineCommand() {}, sendCommand: script, oriTurnCount: script, oriTurnRefund: script } as never;
}

const wrong = ['OK', 1, null, [], [1], ['1', '1', '60000', '1', '60000'], [0, null, 1, 0, 1]] as const;

test.each(wrong.map((answer) => ({ answer })))(
  '$answer, which no counter answers, is neither a turn nor a refusal',
  async ({ answer }) => {
    const redis = answering(answer);
    const single = createTurnLimiter({
      redis,
      turnsPerUser: limits.user,
      turnsPerOrganization: limits.organization,
      windowSeconds: limits.windowSeconds,
    });
    await expect(single.take(who)).rejects.toBeInstanceOf(TurnLimiterUnavailable);
    await expect(createClusterTurns(redis, limits.windowSeconds).take(keys, limits)).rejects.toBeInstanceOf(
      TurnLimiterUnavailable,
    );
  },
);
