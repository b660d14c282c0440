import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { createClusterTurns } from './cluster.ts';
import { createTurnLimiter } from './limiter.ts';
import { TurnLimiterUnavailable } from './store.ts';

const limits = { user: 3, organization: 5, windowSeconds: 60 };
const who = { userId: 'ada', organizationId: 'engines' };
const keys = { user: 'u', organization: 'o' };

/** A connection on which every script has the same answer, unless it is among the others. */
function answering(answer: unknown, others: Record<string, (key: string) => Promise<unknown>> = {}): Redis {
  const script = async () => answer;
  const scripts = { oriTurnCharge: script, oriTurnCount: script, oriTurnRefund: script };
  return { defineCommand() {}, sendCommand: script, ...scripts, ...others } as never;
}

const wrong = [
  ...['OK', 1, null, [], [1], [0, null]],
  ...[
    ['1', '1', '60000', '1', '60000', '0'],
    [1, 1, 60_000, 1, null, 0],
    [1, 1, 60_000, 1, 60_000],
  ],
];

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

test('a turn that one counter refuses and the other does not give back is no refusal', async () => {
  const redis = answering(undefined, {
    oriTurnCount: async (key) => [key === keys.user ? 1 : limits.organization + 1, 60_000],
    oriTurnRefund: () => Promise.reject(new Error('lost')),
  });
  await expect(createClusterTurns(redis, limits.windowSeconds).take(keys, limits)).rejects.toBeInstanceOf(
    TurnLimiterUnavailable,
  );
});
