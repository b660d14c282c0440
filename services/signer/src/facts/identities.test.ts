import { readBearer } from '@ori/identity/bearer';
import { IdentityError } from '@ori/identity/identity-error';
import type { OpenIdentity } from '@ori/identity/open-identity';
import type { ApiKeyFacts } from '@ori/store/facts';
import { expect, test } from 'vitest';
import { createIdentities } from './identities.ts';

const bearer = readBearer([`Bearer ${'x'.repeat(64)}`]);

const identitiesOf = (answer: () => Promise<unknown>) =>
  createIdentities({ identify: answer, check: answer } as unknown as OpenIdentity<ApiKeyFacts>);

const asks = ['identify', 'check'] as const;
const ask = async (name: (typeof asks)[number], answer: () => Promise<unknown>): Promise<unknown> =>
  name === 'check' ? identitiesOf(answer).check() : identitiesOf(answer).identify(bearer, '192.0.2.1');

test('asks with the credential and the network', async () => {
  const asked: unknown[] = [];
  const identities = createIdentities({
    identify: async (...question: unknown[]) => asked.push(...question),
  } as unknown as OpenIdentity<ApiKeyFacts>);
  await identities.identify(bearer, '192.0.2.1');
  expect(asked).toEqual([bearer, '192.0.2.1']);
});

test.each(asks)('%s: an issuer that does not answer is a failed dependency', async (name) => {
  expect(await ask(name, async () => 'answer')).toBe('answer');
  const away = new IdentityError('issuer_unavailable', 'no answer');
  const failed = { name: 'DependencyError', dependency: 'issuer', cause: away };
  await expect(ask(name, () => Promise.reject(away))).rejects.toMatchObject(failed);
});

test.each(asks)('%s: any other failure is passed on', async (name) => {
  const other = Object.assign(new Error('not of the issuer'), { code: 'issuer_unavailable' });
  for (const failure of [new IdentityError('bearer_refused', 'refused'), other])
    await expect(ask(name, () => Promise.reject(failure))).rejects.toBe(failure);
});
