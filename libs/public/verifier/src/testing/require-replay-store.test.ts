import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ProofError } from '@ori/proof';
import { expect, test } from 'vitest';
import { memoryReplayStore } from '../replay/memory/store.ts';
import { type ReplayStore, retentionSeconds, type Spend } from '../replay/replay-store.ts';
import type { ReplayStoreUnderTest } from './replay-store-bench.ts';
import { requireReplayStore } from './require-replay-store.ts';

/** The parts of a small store, each of which a test replaces by a mistake. */
interface Parts {
  clockMs(now: () => number): number;
  idOf(spend: Spend): string;
  tooFarAhead(spend: Spend, now: number): boolean;
  horizon(spend: Spend, now: number): number;
  forgetUpTo(spend: Spend, now: number): number;
  raises: boolean;
  acceptsV1: boolean;
}

const SOUND: Parts = {
  clockMs: (now) => now(),
  idOf: ({ policy, nonce }) => `${policy.internId} ${nonce}`,
  tooFarAhead: ({ timestamp, policy }, now) => timestamp > now + policy.clockToleranceSeconds,
  horizon: ({ policy }, now) => now - retentionSeconds(policy),
  forgetUpTo: ({ policy }, now) => now - retentionSeconds(policy),
  raises: true,
  acceptsV1: false,
};

const refuse = (code: 'nonce_replayed' | 'proof_expired' | 'proof_not_yet_valid'): never => {
  throw new ProofError(code, code);
};

/** Two processes of the store, over the same data. */
function opening(change: Partial<Parts> = {}): ReplayStoreUnderTest['open'] {
  const parts = { ...SOUND, ...change };
  const spent = new Map<string, number>();
  let floor = -1;
  return (clock) => ({
    attach({ acceptV1 }) {
      if (acceptV1 && !parts.acceptsV1) throw new TypeError('acceptV1: not supported');
    },
    spend(spend) {
      const now = parts.clockMs(clock) / 1000;
      if (parts.tooFarAhead(spend, now)) refuse('proof_not_yet_valid');
      for (const [id, timestamp] of spent) {
        if (timestamp > parts.forgetUpTo(spend, now)) continue;
        if (parts.raises) floor = Math.max(floor, timestamp);
        spent.delete(id);
      }
      if (spend.timestamp <= Math.max(floor, parts.horizon(spend, now))) refuse('proof_expired');
      const id = parts.idOf(spend);
      if (spent.has(id)) refuse('nonce_replayed');
      spent.set(id, spend.timestamp);
      return 'spent';
    },
  });
}

const injected = { clock: 'injected' } as const;

test('passes the memory store, whatever its window', async () => {
  for (const window of [{}, { maxAgeSeconds: 1, clockToleranceSeconds: 0 }, { maxAgeSeconds: 600 }]) {
    let store: ReplayStore | undefined;
    const open = (now: () => number) => {
      store ??= memoryReplayStore({ now });
      return store;
    };
    await requireReplayStore({ open, ...injected, ...window });
  }
});

test('passes a small store that refuses version 1', async () => {
  await requireReplayStore({ open: opening(), ...injected });
});

test.each<[string, RegExp, Partial<Parts>]>([
  ['forgets after 100 ms', /^spend: /, { forgetUpTo: (_, now) => now - 0.1, raises: false }],
  ['forgets after 60 s', /within the 92 s of N8/, { forgetUpTo: (_, now) => now - 60, raises: false }],
  ['forgets at the maximum age', /N8/, { forgetUpTo: ({ policy }, now) => now - policy.maxAgeSeconds }],
  ['keeps no floor', /\(N3\)/, { raises: false }],
  ['takes what is ahead of its clock', /\(N1\)/, { tooFarAhead: () => false }],
  ['takes what it may have forgotten', /\(N2\)/, { horizon: () => -1 }],
  ['ignores the intern', /two interns share/, { idOf: ({ nonce = '' }) => nonce }],
  ['takes version 1 for a nonce that is absent', /expected 'spent' for a new nonce|O4/, { acceptsV1: true }],
  ['uses a clock of its own', /does the store use the clock/, { clockMs: () => Date.now() }],
])('refuses a store that %s', async (_mistake, message, change) => {
  await expect(requireReplayStore({ open: opening(change), ...injected })).rejects.toThrow(message);
});

/** A store with nothing but this. */
function bare(spend: (known: Set<string>, spend: Spend) => unknown): ReplayStoreUnderTest['open'] {
  const known = new Set<string>();
  return () => ({ spend: (asked) => spend(known, asked) as 'spent' });
}

test.each<[string, ReplayStoreUnderTest['open']]>([
  [
    'checks and then writes',
    bare(async (known, spend) => {
      const isKnown = known.has(SOUND.idOf(spend));
      await new Promise(setImmediate);
      known.add(SOUND.idOf(spend));
      return isKnown ? refuse('nonce_replayed') : 'spent';
    }),
  ],
  [
    'returns false for a replay',
    bare((known, spend) => !known.has(SOUND.idOf(spend)) && known.add(SOUND.idOf(spend)) && 'spent'),
  ],
  ['returns undefined', bare(() => undefined)],
  ['remembers for one process only', (now) => opening()(now)],
])('refuses a store that %s', async (_mistake, open) => {
  await expect(requireReplayStore({ open, ...injected })).rejects.toThrow(/^spend: /);
});

test('refuses a store that loses its data without a fence', async () => {
  let open = opening();
  const restart = () => {
    open = opening();
  };
  const losing = { open: (now: () => number) => open(now), restart, ...injected };
  await expect(requireReplayStore(losing)).rejects.toThrow(/\(N4\)/);
});

test('refuses a store that accepts nothing after a loss, or is none', async () => {
  const open = opening();
  let isLost = false;
  const restart = () => {
    isLost = true;
  };
  const dead = {
    open: (now: () => number) => (isLost ? ('dead' as never) : open(now)),
    restart,
    ...injected,
  };
  await expect(requireReplayStore(dead)).rejects.toThrow("expected 'spent' for a new nonce");
});

test('every shared store of the package is held to this', async () => {
  const { exports: entries } = JSON.parse(
    await readFile(new URL('../../package.json', import.meta.url), 'utf8'),
  );
  const files = Object.values<string>(entries).filter((file) => file.startsWith('./src/replay/'));
  const modules = await Promise.all(files.map((file) => import(join('../..', file))));
  const stores = modules.flatMap(Object.keys).filter((name) => name.endsWith('ReplayStore'));
  expect(stores).toContain('redisReplayStore');
  const held = new URL('../../../../../test/conformance/replay-stores.test.ts', import.meta.url);
  const text = await readFile(held, 'utf8');
  expect(stores.filter((name) => !text.includes(`${name}(`))).toEqual([]);
});

test('tests no store whose clock it neither sets nor waits for', async () => {
  const unclear = { open: opening() } as unknown as ReplayStoreUnderTest;
  await expect(requireReplayStore(unclear)).rejects.toThrow(TypeError);
});
