import { createIssuerKey } from '@ori/test-env/issuer-keys';
import { mintToken } from '@ori/test-env/issuer-tokens';
import { type CryptoKey, importJWK } from 'jose';
import { expect, test, vi } from 'vitest';
import type { TokenFacts } from './access-token.ts';
import { createIdentities } from './identities.ts';
import { IdentityError, tokenRefused } from './identity-error.ts';
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
  now = () => START,
) {
  const introspect = vi.fn(answer);
  const apiKey = vi.fn(async (hash: string) =>
    apiKeys[hash] === undefined ? {} : { apiKey: apiKeys[hash] },
  );
  const lookups: boolean[] = [];
  const { identify } = createIdentities({
    authorities: [{ expected, issuer: { binds: () => false, aheadSeconds: () => 0 } as Issuer, introspect }],
    apiKey,
    now,
    onLookup: (hit) => lookups.push(hit),
  });
  return { identify, introspect, apiKey, lookups };
}

test('a token is introspected once for concurrent requests, and cached for later ones', async () => {
  const { identify, introspect, lookups } = identitiesWith(async () => factsFor());
  const together = await Promise.all([identify(opaque('a'), NETWORK), identify(opaque('a'), NETWORK)]);
  expect(together).toEqual([{ token: factsFor() }, { token: factsFor() }]);
  expect(await identify(opaque('a'), NETWORK)).toEqual({ token: factsFor() });
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

test('a refusal from the cache names the claim too', async () => {
  const { identify, introspect } = identitiesWith(async () => {
    throw tokenRefused('aud');
  });
  for (let times = 0; times < 2; times += 1) {
    const refusal = { code: 'bearer_refused', claim: 'aud' };
    await expect(identify(opaque('a'), NETWORK)).rejects.toMatchObject(refusal);
  }
  expect(introspect).toHaveBeenCalledTimes(1);
});

test('a token that expires now is not cached', async () => {
  const { identify, introspect } = identitiesWith(async () => factsFor(0));
  await identify(opaque('a'), NETWORK);
  await identify(opaque('a'), NETWORK);
  expect(introspect).toHaveBeenCalledTimes(2);
});

test('a cached token ends with its expiry, though the machine slept and the clock of the cache stood still', async () => {
  let seconds = 0;
  const { identify, introspect } = identitiesWith(
    async () => factsFor(50),
    {},
    () => START + seconds * 1000,
  );
  await identify(opaque('a'), NETWORK);
  // The tolerance for clocks that differ.
  seconds = 51;
  expect(await identify(opaque('a'), NETWORK)).toEqual({ token: factsFor(50) });
  seconds = 52;
  await expect(identify(opaque('a'), NETWORK)).rejects.toMatchObject({ claim: 'exp' });
  expect(introspect).toHaveBeenCalledTimes(1);
});

test('the issuer is asked about an opaque token again after five seconds', async () => {
  const { identify, introspect } = identitiesWith(async () => factsFor());
  const begun = performance.now();
  let ahead = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => begun + ahead);
  try {
    await identify(opaque('a'), NETWORK);
    ahead = 4900;
    await identify(opaque('a'), NETWORK);
    expect(introspect).toHaveBeenCalledTimes(1);
    ahead = 5100;
    const asked = async () => {
      await identify(opaque('a'), NETWORK);
      return introspect;
    };
    await expect.poll(asked).toHaveBeenCalledTimes(2);
  } finally {
    clock.mockRestore();
  }
});

test('a token that was valid before counts as familiar until it is refused', async () => {
  const brief = factsFor(0.02);
  let failure: 'issuer_unavailable' | 'bearer_refused' | undefined;
  const { identify, introspect } = identitiesWith(async () => {
    if (failure !== undefined) throw new IdentityError(failure, 'away, or inactive');
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
  }, 20_000);
  for (failure of ['issuer_unavailable', 'bearer_refused'] as const) {
    await vi.waitFor(async () => {
      await expect(identify(opaque('a'), NETWORK)).rejects.toMatchObject({ code: failure });
    }, 20_000);
    expect(familiar().at(-1)).toMatchObject({ isFamiliar: true });
  }
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 5100);
  try {
    await vi.waitFor(async () => {
      const asked = introspect.mock.calls.length;
      await expect(identify(opaque('a'), NETWORK)).rejects.toMatchObject({ code: 'bearer_refused' });
      expect(introspect.mock.calls.length).toBeGreaterThan(asked);
    }, 20_000);
    expect(familiar().at(-1)).toMatchObject({ isFamiliar: false });
  } finally {
    clock.mockRestore();
  }
});

test('a JWT is judged under the keys of the issuer that it names: once in 60 seconds if it is good', async () => {
  const key = await createIssuerKey('ES256');
  const token = await mintToken({ ...expected, keys: [key] }, {});
  const known = (await importJWK(key.publicJwk, 'ES256')) as CryptoKey;
  const keysFor = vi
    .fn(async function* () {
      yield known;
    })
    .mockImplementationOnce(async function* () {});
  const other = {
    expected: { ...expected, issuer: 'https://other.test' },
    issuer: { keysFor: vi.fn(), binds: () => false, aheadSeconds: () => 0 },
  };
  const { identify } = createIdentities({
    authorities: [other, { expected, issuer: { keysFor, binds: () => false, aheadSeconds: () => 0 } }],
    apiKey: () => ({}),
    now: Date.now,
  });
  const bearer = readBearer([`Bearer ${token}`]);
  const begun = performance.now();
  let ahead = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => begun + ahead);
  try {
    await expect(identify(bearer, NETWORK)).rejects.toMatchObject({ code: 'bearer_refused' });
    expect(await identify(bearer, NETWORK)).toMatchObject({ token: { subject: 'ada' } });
    ahead = 59_000;
    await identify(bearer, NETWORK);
    expect(keysFor).toHaveBeenCalledTimes(2);
    ahead = 60_100;
    const asked = async () => {
      await identify(bearer, NETWORK);
      return keysFor;
    };
    await expect.poll(asked).toHaveBeenCalledTimes(3);
  } finally {
    clock.mockRestore();
  }
  expect(other.issuer.keysFor).not.toHaveBeenCalled();
  const foreign = readBearer([
    `Bearer ${await mintToken({ ...expected, issuer: 'https://x.test', keys: [key] }, {})}`,
  ]);
  await expect(identify(foreign, NETWORK)).rejects.toMatchObject({ code: 'bearer_refused', claim: 'iss' });
});

test('a person whose session was bound and is not any more is told once, and their tokens say so', async () => {
  const keyThumbprint = 'k'.repeat(43);
  const told: string[] = [];
  const couldBeBound: boolean[] = [];
  const { identify } = createIdentities({
    authorities: [
      {
        expected,
        issuer: { binds: () => true, aheadSeconds: () => 0 } as Issuer,
        introspect: async (token) => ({
          ...factsFor(),
          subject: token.slice(0, 1),
          ...(/[A-Z]$/.test(token) && { keyThumbprint }),
        }),
      },
    ],
    apiKey: () => ({}),
    now: () => START,
    onVerified: (_, could) => couldBeBound.push(could),
    onBindingLost: ({ subject }) => told.push(subject),
  });
  let sent = 0;
  const boundBefore = async (person: string, binding: string) => {
    sent += 1;
    const found = await identify(readBearer([`Bearer ${person.repeat(22)}${sent}${binding}`]), NETWORK);
    return found !== undefined && 'token' in found && found.token.boundBefore;
  };
  expect(await boundBefore('a', 'unbound')).toBeUndefined();
  expect(await boundBefore('a', 'BOUND')).toBeUndefined();
  expect(await boundBefore('b', 'unbound')).toBeUndefined();
  expect([await boundBefore('a', 'unbound'), await boundBefore('a', 'unbound')]).toEqual([true, true]);
  expect(told).toEqual(['a']);
  expect(couldBeBound).toEqual([true, false, true, true, true]);
  await boundBefore('a', 'BOUND');
  await boundBefore('a', 'unbound');
  expect(told).toEqual(['a', 'a']);
});

test('an opaque token is shown only to the issuer whose prefix it has', async () => {
  const introspections = ['one_', 'two_'].map((tokenPrefix) => ({
    tokenPrefix,
    expected,
    issuer: { binds: () => false, aheadSeconds: () => 0 } as Issuer,
    introspect: async () => ({ ...factsFor(), subject: tokenPrefix }),
  }));
  const { identify } = createIdentities({
    authorities: introspections,
    apiKey: () => ({}),
    now: () => START,
  });
  for (const prefix of ['one_', 'two_']) {
    const bearer = readBearer([`Bearer ${prefix}${'x'.repeat(22)}`]);
    expect(await identify(bearer, NETWORK)).toMatchObject({ token: { subject: prefix } });
  }
  expect(await identify(opaque('a'), NETWORK)).toBeUndefined();
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
    authorities: [{ expected, issuer: { binds: () => false, aheadSeconds: () => 0 } as Issuer }],
    apiKey: () => ({}),
    now: Date.now,
  });
  expect(await identify(opaque('a'), NETWORK)).toBeUndefined();
});
