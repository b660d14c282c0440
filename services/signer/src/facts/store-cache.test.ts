import type { SignerQueries } from '@ori/store/signer';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DependencyError } from '../core/dependency-error.ts';
import { createStoreCache } from './store-cache.ts';

const question = { issuer: 'https://issuer.test', subject: 'ada', internId: 'int_1' };

function memoryOf(store: Partial<Record<keyof SignerQueries, (...args: never[]) => unknown>>) {
  return createStoreCache({ store: store as unknown as SignerQueries, now: Date.now });
}

test('does not query an invalid id', async () => {
  expect(await memoryOf({}).gate.facts({ ...question, internId: undefined })).toBeUndefined();
});

test('distinguishes queries whose joined parts are equal', async () => {
  const memory = memoryOf({ gateFacts: async (asked) => asked });
  const asked = [
    question,
    { ...question, subject: 'ada","int_1', internId: 'x' },
    { ...question, subject: 'a', internId: 'da' },
  ];
  for (const one of asked) expect(await memory.gate.facts(one)).toEqual(one);
});

test('tells an API key that exists from one that does not', async () => {
  const facts = { kind: 'api' };
  const memory = memoryOf({ apiKey: async (hash: string) => (hash === 'known' ? facts : undefined) });
  expect(await memory.apiKey('known')).toEqual({ apiKey: facts });
  expect(await memory.apiKey('unknown')).toEqual({});
});

test('counts lookups of the gate and of keys, and asks for the keys that are published now', async () => {
  const lookups: unknown[] = [];
  const asked: unknown[] = [];
  const memory = createStoreCache({
    store: {
      gateFacts: async () => ({}),
      signingKeys: async () => [],
      publishedKeys: async (...question: unknown[]) => asked.push(...question),
    } as unknown as SignerQueries,
    now: () => 1_789_000_000_999,
    onLookup: (...lookup) => lookups.push(lookup),
  });
  await memory.gate.facts(question);
  await memory.gate.facts(question);
  await memory.signingKeys('int_1');
  await memory.publishedKeys('int_1');
  expect(lookups).toEqual([
    ['gate', false],
    ['gate', true],
    ['keys', false],
  ]);
  expect(asked).toEqual(['int_1', { at: 1_789_000_000 }]);
});

test('is as ready as its store', async () => {
  await memoryOf({ ping: async () => undefined }).check();
  const down = memoryOf({
    ping: async () => {
      throw new Error('down');
    },
  });
  await expect(down.check()).rejects.toThrow();
});

test('reports every failure as one of PostgreSQL', async () => {
  const fail = async () => {
    throw new Error('permission denied');
  };
  const memory = memoryOf({
    gateFacts: fail,
    apiKey: fail,
    signingKeys: fail,
    publishedKeys: fail,
    ping: fail,
  });
  const calls = [
    () => memory.gate.facts(question),
    () => memory.apiKey('hash'),
    () => memory.signingKeys('int_1'),
    () => memory.publishedKeys('int_1'),
  ];
  for (const call of calls) {
    const outcome = await Promise.resolve(call()).catch((error: unknown) => error);
    expect(outcome).toBeInstanceOf(DependencyError);
    expect(outcome).toMatchObject({ dependency: 'postgresql' });
  }
});

test('remembers facts for a second, and published keys for a quarter of one', async () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1000);
  onTestFinished(() => clock.mockRestore());
  const load = vi.fn(async () => ({}));
  const store = { gateFacts: load, apiKey: load, signingKeys: load, publishedKeys: load };
  const { gate, apiKey, signingKeys, publishedKeys } = memoryOf(store);
  const loads = async (look: () => unknown, atMs: number) => {
    clock.mockReturnValue(atMs);
    load.mockClear();
    await look();
    return load.mock.calls.length;
  };
  for (const [look, ms] of [
    [() => gate.facts(question), 1000],
    [() => apiKey('hash'), 1000],
    [() => signingKeys('int_1'), 1000],
    [() => publishedKeys('int_1'), 250],
  ] as const) {
    const asked = [await loads(look, 1000), await loads(look, 1000 + ms), await loads(look, 1001 + ms)];
    expect(asked).toEqual([1, 0, 1]);
  }
});
