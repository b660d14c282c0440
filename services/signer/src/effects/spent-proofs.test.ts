import type { RedisClient } from '@ori/redis/connection';
import { expect, test } from 'vitest';
import { redisSpentProofs } from './spent-proofs.ts';

const answering = (answer: unknown) =>
  redisSpentProofs({
    defineCommand: () => undefined,
    on: () => undefined,
    oriDpopEpoch: async () => answer,
    oriDpopSpend: async () => answer,
  } as unknown as RedisClient);

test.each([
  ['none', undefined],
  ['a list', ['spent']],
  ['another word', 'told'],
])('a reply that cannot be is a failure of Redis: %s', async (_what, answer) => {
  await expect(
    answering(answer).spend({ id: 'proof', epoch: 'epoch 1', from: 0, until: 1e12 }),
  ).rejects.toMatchObject({
    name: 'DependencyError',
    dependency: 'redis',
  });
});

test('an epoch that cannot be learned is a failure of Redis', async () => {
  await expect(answering(undefined).learn()).rejects.toMatchObject({ dependency: 'redis' });
});
