import type { SignerQueries } from '@ori/store';
import { expect, test } from 'vitest';
import { DependencyError } from './dependency-error.ts';
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
