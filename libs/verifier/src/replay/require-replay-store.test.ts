import { ProofError } from '@ori/proof';
import { sharedRedisUrl } from '@ori/test-env/redis';
import { connect } from '@ori/test-env/verifier/redis-world';
import { expect, onTestFinished, test } from 'vitest';
import { createTestReplayStore } from '../testing.ts';
import { redisReplayStore } from './redis/store.ts';
import type { ReplayStore, Spend } from './replay-store.ts';
import { requireReplayStore } from './require-replay-store.ts';

/** A store with one mistake. */
function mistaken(spend: (known: Set<string>, spend: Spend) => Promise<unknown>): () => ReplayStore {
  const known = new Set<string>();
  return () => ({ spend: (asked) => spend(known, asked) as Promise<'spent'> });
}

const replayed = (): never => {
  throw new ProofError('nonce_replayed', 'spent before');
};
const idOf = ({ policy, nonce }: Spend): string => `${policy.internId} ${nonce}`;

test('passes the stores of this package', async () => {
  const memory = createTestReplayStore();
  await requireReplayStore({ open: () => memory });
  const redis = await connect(sharedRedisUrl());
  const open = () => {
    const store = redisReplayStore(redis, { mode: 'spend', timeoutMs: 5000 });
    onTestFinished(() => store.close());
    return store;
  };
  await requireReplayStore({ open, callers: 20 });
});

test.each<[string, () => ReplayStore]>([
  [
    'checks and then writes',
    mistaken(async (known, spend) => {
      const isKnown = known.has(idOf(spend));
      await new Promise(setImmediate);
      known.add(idOf(spend));
      return isKnown ? replayed() : 'spent';
    }),
  ],
  [
    'returns false for a replay',
    mistaken(async (known, spend) => (known.has(idOf(spend)) ? false : known.add(idOf(spend)) && 'spent')),
  ],
  ['returns undefined', mistaken(async () => undefined)],
  [
    'ignores the intern',
    mistaken(async (known, { nonce = '' }) => (known.has(nonce) ? replayed() : known.add(nonce) && 'spent')),
  ],
  [
    'remembers for one process only',
    () => {
      const known = new Set<string>();
      return {
        spend: (spend) =>
          (known.has(idOf(spend)) ? replayed() : known.add(idOf(spend)) && 'spent') as 'spent',
      };
    },
  ],
])('refuses a store that %s', async (_mistake, open) => {
  await expect(requireReplayStore({ open, fenceSeconds: 0 })).rejects.toThrow(/^spend: /);
});

test('refuses a store that loses its data without a fence', async () => {
  const known = new Set<string>();
  const open = mistaken(async (_, spend) =>
    known.has(idOf(spend)) ? replayed() : known.add(idOf(spend)) && 'spent',
  );
  await requireReplayStore({ open });
  await expect(requireReplayStore({ open, restart: () => known.clear() })).rejects.toThrow(/^spend: /);
});
