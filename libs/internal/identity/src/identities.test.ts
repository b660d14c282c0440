import { expect, test, vi } from 'vitest';
import type { TokenFacts } from './access-token.ts';
import { createIdentities } from './identities.ts';
import { IdentityError } from './identity-error.ts';
import type { Issuer } from './issuer.ts';
import { readBearer } from './read-bearer.ts';

const NETWORK = '192.0.2.1';
const START = 1_789_000_000_000;
const expected = {
  issuer: 'https://issuer.test',
  audience: 'https://api.test/v1',
  clients: ['ori-cli'],
  lifetimeMaxSeconds: 86_400,
  requiresAuthTime: false,
};
const opaque = (letter: string) => readBearer([`Bearer ${letter.repeat(22)}`]);
const factsFor = (lifeSeconds = 300): TokenFacts => ({
  issuer: expected.issuer,
  subject: 'ada',
  scopes: [],
  expiresAt: START / 1000 + lifeSeconds,
});

function identitiesWith(
  answer: (token: string) => Promise<TokenFacts>,
  apiKeys: Record<string, object> = {},
) {
  const introspect = vi.fn(answer);
  const apiKey = vi.fn(async (hash: string) =>
    apiKeys[hash] === undefined ? {} : { apiKey: apiKeys[hash] },
  );
  const lookups: boolean[] = [];
  const { identify } = createIdentities({
    authorities: [{ expected, issuer: {} as Issuer, introspect }],
    apiKey,
    now: () => START,
    onLookup: (hit) => lookups.push(hit),
  });
  return { identify, introspect, apiKey, lookups };
}

test('a token is introspected once for concurrent requests, and cached for later ones', async () => {
  const { identify, introspect, lookups } = identitiesWith(async () => factsFor());
  const together = await Promise.all([identify(opaque('a'), NETWORK), identify(opaque('a'), NETWORK)]);
  expect(together).toEqual([{ token: factsFor() }, { token: factsFor() }]);
  await identify(opaque('a'), NETWORK);
  expect(introspect).toHaveBeenCalledTimes(1);
  expect(lookups).toEqual([false, false, true]);
  await identify(opaque('b'), NETWORK);
  expect(introspect).toHaveBeenCalledTimes(2);
});

test('the cache uses the whole token: one with the same prefix is a different one', async () => {
  const { identify, introspect } = identitiesWith(async (token) => ({
    ...factsFor(),
    subject: token.slice(-1),
  }));
  const long = 'x'.repeat(8000);
  for (const end of ['1', '2']) {
    expect(await identify(readBearer([`Bearer ${long}${end}`]), NETWORK)).toMatchObject({
      token: { subject: end },
    });
  }
  expect(introspect).toHaveBeenCalledTimes(2);
});

test('a refusal is cached briefly; a failure to ask is not', async () => {
  const answers = [
    new IdentityError('issuer_unavailable', 'down'),
    new IdentityError('bearer_refused', 'inactive'),
  ];
  const { identify, introspect } = identitiesWith(async () => {
    throw answers.shift() ?? new Error('asked too often');
  });
  await expect(identify(opaque('a'), NETWORK)).rejects.toMatchObject({ code: 'issuer_unavailable' });
  await expect(identify(opaque('a'), NETWORK)).rejects.toMatchObject({ code: 'bearer_refused' });
  await expect(identify(opaque('a'), NETWORK)).rejects.toMatchObject({ code: 'bearer_refused' });
  expect(introspect).toHaveBeenCalledTimes(2);
});

test('a token that expires now is not cached', async () => {
  const { identify, introspect } = identitiesWith(async () => factsFor(0));
  await identify(opaque('a'), NETWORK);
  await identify(opaque('a'), NETWORK);
  expect(introspect).toHaveBeenCalledTimes(2);
});

test('the issuer is asked about an opaque token again after five seconds', async () => {
  const { identify, introspect } = identitiesWith(async () => factsFor());
  await identify(opaque('a'), NETWORK);
  const now = performance.now.bind(performance);
  let ahead = 4900;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead);
  try {
    await identify(opaque('a'), NETWORK);
    expect(introspect).toHaveBeenCalledTimes(1);
    ahead = 5100;
    await vi.waitFor(async () => {
      await identify(opaque('a'), NETWORK);
      expect(introspect).toHaveBeenCalledTimes(2);
    });
  } finally {
    clock.mockRestore();
  }
});

test('a token that was valid before counts as familiar until it is refused', async () => {
  const brief = factsFor(0.02);
  let isActive = true;
  const { identify, introspect } = identitiesWith(async () => {
    if (!isActive) throw new IdentityError('bearer_refused', 'inactive');
    return brief;
  });
  const familiar = () => introspect.mock.calls.map((call) => (call as unknown[])[3]);
  await identify(opaque('a'), NETWORK);
  await vi.waitFor(async () => {
    await identify(opaque('a'), NETWORK);
    expect(familiar()).toEqual([
      { network: NETWORK, isFamiliar: false },
      { network: NETWORK, isFamiliar: true },
    ]);
  });
  isActive = false;
  await vi.waitFor(async () => {
    await expect(identify(opaque('a'), NETWORK)).rejects.toMatchObject({ code: 'bearer_refused' });
  });
  expect(familiar().at(-1)).toMatchObject({ isFamiliar: true });
});

test('an API key is looked up by its digest, without asking the issuer', async () => {
  const key = readBearer([`Bearer sk-ori-v1-${'0a'.repeat(32)}`]);
  const { identify, introspect, apiKey } = identitiesWith(async () => factsFor(), {
    [key.digestHex()]: { kind: 'api' },
  });
  expect(await identify(key, NETWORK)).toEqual({ apiKey: { kind: 'api' } });
  expect(await identify(readBearer([`Bearer sk-ori-v1-${'0b'.repeat(32)}`]), NETWORK)).toBeUndefined();
  expect(apiKey.mock.calls[0]).toEqual([key.digestHex()]);
  expect(introspect).not.toHaveBeenCalled();
});

test('without an introspection client an opaque token is unknown', async () => {
  const { identify } = createIdentities({
    authorities: [{ expected, issuer: {} as Issuer }],
    apiKey: () => ({}),
    now: Date.now,
  });
  expect(await identify(opaque('a'), NETWORK)).toBeUndefined();
});
