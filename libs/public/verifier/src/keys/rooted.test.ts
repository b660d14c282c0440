import { readFile } from 'node:fs/promises';
import { createSigningKey } from '@ori/proof/signing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createTestReplayStore, createTestSigner } from '../testing/testing.ts';
import { createVerifier } from '../verifier.ts';
import type { KeySetSnapshot } from './fetched.ts';
import { createRootedKeySet, type RootedKeySetOptions } from './rooted.ts';
import {
  delegate,
  delegationsOf,
  documentOf,
  HERE,
  headersOf,
  jwkOf,
  type Named,
  newKey,
  newRoot,
  urlOf,
} from './test-root.fixture.ts';

const seed = new Uint8Array(32).fill(7);
const honest = createSigningKey(seed);
const held = newRoot();

/** A daemon that pins a root, and whoever answers its requests. `state.answer` is what arrives. */
function world(options: Partial<RootedKeySetOptions> = {}) {
  const state = {
    now: 100_000,
    answer: (): Response => serve(documentOf(held, [honest])),
  };
  const serve = (body: Uint8Array, { at = state.now, place = HERE, by = held.freshness } = {}) => {
    const headers = headersOf(by, body, at, place);
    return new Response(body, { headers: { ...headers, 'content-type': 'application/json' } });
  };
  const keys = createRootedKeySet(urlOf(HERE), {
    root: jwkOf(held.root),
    now: () => state.now,
    unixTime: () => state.now,
    revocationCheckSeconds: 1,
    fetch: async () => state.answer(),
    ...options,
  });
  const kids = async () => (await keys.current()).map(({ kid }) => kid);
  const refusal = async () => {
    const error = await keys.reload().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'keys_unavailable' });
    return ((error as Error).cause as { cause?: { code?: string } }).cause?.code;
  };
  return { state, keys, serve, kids, refusal };
}

const impostor = createTestSigner({ internId: 'int_1' });
const forged = () => impostor.request({ path: '/', body: '{}', user: 'anybody' });
const setOf = (keys: unknown) => new Response(JSON.stringify(keys));

test('without a root, whoever answers the URL is everybody, and a warning says so once', async () => {
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
  onTestFinished(() => warned.mockRestore());
  // Once in a process: other tests may have caused it.
  vi.resetModules();
  const [{ createRemoteKeySet: create }, rooted] = await Promise.all([
    import('./remote.ts'),
    import('./rooted.ts'),
  ]);
  rooted.createRootedKeySet(urlOf(HERE), { root: jwkOf(held.root) });
  expect(warned).not.toHaveBeenCalled();
  const keys = create(urlOf(HERE), { fetch: async () => setOf(impostor.jwks) });
  create(urlOf(HERE));
  expect(warned.mock.calls).toMatchObject([
    [expect.stringContaining('"A root" in the README of @ori/verifier'), { code: 'key_set_unrooted' }],
  ]);
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  expect(readme).toContain('\n## A root\n');
  const verifier = createVerifier({ internId: 'int_1', keys, replay: createTestReplayStore() });
  await expect(verifier.verify(forged())).resolves.toMatchObject({ user: 'anybody' });
});

test('with a root, the key of a server in between signs for nobody', async () => {
  const { state, keys } = world();
  state.answer = () => setOf(impostor.jwks);
  const verifier = createVerifier({ internId: 'int_1', keys, replay: createTestReplayStore() });
  await expect(verifier.verify(forged())).rejects.toMatchObject({ code: 'keys_unavailable' });
});

test('accepts the set that the root vouches for, and keeps its keys while it stays the same', async () => {
  const { state, keys, kids } = world();
  expect(await kids()).toEqual([honest.kid]);
  const before = await keys.current();
  state.now += 1000;
  expect(await keys.current()).toBe(before);
});

// What makes a set false is in test/vectors/rooted-sets.json; here is what the daemon's URL, clock and fetch add.
test.each<[string, string, (w: ReturnType<typeof world>) => Response]>([
  ['a set without statements', 'key_set_unstated', () => setOf({ keys: [] })],
  [
    'a header that occurs twice',
    'key_set_malformed',
    ({ serve }) => {
      const answer = serve(documentOf(held, [honest]));
      answer.headers.append('x-ori-key-set', answer.headers.get('x-ori-key-set') ?? '');
      return answer;
    },
  ],
  [
    'the set of another intern',
    'key_set_signature_invalid',
    ({ serve }) => {
      const place = { ...HERE, internId: 'int_2' };
      return serve(documentOf(held, [honest], { place }), { place });
    },
  ],
  [
    'the set of another deployment under the same root',
    'key_set_role_missing',
    ({ serve }) => {
      const place: Named = { ...HERE, baseUrl: 'https://staging.example/v1' };
      return serve(documentOf(held, [honest], { place }), { place });
    },
  ],
  [
    'a set of a time to come',
    'key_set_ahead',
    ({ serve, state }) => serve(documentOf(held, [honest]), { at: state.now + 10_001 }),
  ],
])('refuses %s', async (_name, code, answer) => {
  const w = world();
  w.state.answer = () => answer(w);
  expect(await w.refusal()).toBe(code);
});

// SPEC.md R10.
test('a server in between holds back a revocation for 60 s, and no longer', async () => {
  const { state, serve, kids } = world();
  const [before, statedAt] = [documentOf(held, [honest]), state.now];
  const old = serve(before).headers;
  state.answer = () => new Response(Buffer.from(before), { headers: old });
  // The key is revoked here, and the server in between answers with the set from before it.
  state.now = statedAt + 59_999;
  expect(await kids()).toEqual([honest.kid]);
  state.now += 1;
  await expect(kids()).rejects.toMatchObject({ code: 'keys_unavailable' });
});

test('the keys end with the role that stated them', async () => {
  const { state, keys, serve } = world({ revocationCheckSeconds: undefined as never });
  const ending = [
    delegate(held.root, 'keys', held.keys, { exp: 130 }),
    delegate(held.root, 'freshness', held.freshness),
  ];
  state.answer = () => serve(documentOf(held, [honest], { delegations: ending }));
  await keys.reload();
  state.now = 130_000;
  await expect(keys.current()).rejects.toMatchObject({ code: 'keys_unavailable' });
});

// SPEC.md R12: a monotonic clock may stand while the machine sleeps.
test('the keys end by the wall clock though the other stood still, and are then fetched again', async () => {
  let monotonic = 0;
  const { state, keys, kids } = world({ now: () => monotonic });
  await keys.reload();
  const { answer } = state;
  state.now += 3_600_000;
  monotonic += 300;
  state.answer = () => new Response('down', { status: 503 });
  await expect(kids()).rejects.toMatchObject({ code: 'keys_unavailable' });
  expect(keys.jwks()).toBeUndefined();
  state.answer = answer;
  monotonic += 300;
  expect(await kids()).toEqual([honest.kid]);
});

// SPEC.md R12.
test.each(['wall', 'monotonic'])(
  'the keys end 60 s after their statement by the %s clock alone',
  async (one) => {
    let monotonic = 0;
    const { state, keys, kids } = world({ now: () => monotonic, staleSeconds: 600 });
    await keys.reload();
    state.answer = () => new Response('down', { status: 503 });
    const pass = (ms: number): void => {
      if (one === 'wall') state.now += ms;
      else monotonic += ms;
    };
    pass(59_999);
    expect(await kids()).toEqual([honest.kid]);
    pass(1);
    await expect(kids()).rejects.toMatchObject({ code: 'keys_unavailable' });
  },
);

// SPEC.md R5, R13.
test('a root is replaced by one that it signed, and roles without a change of the daemon', async () => {
  const { state, keys, serve } = world();
  const next = newRoot();
  const chain = [delegate(held.root, 'root', next.root), ...delegationsOf(next)];
  state.answer = () => serve(documentOf(next, [honest], { delegations: chain }), { by: next.freshness });
  await keys.reload();
  const pinned = world({ root: [jwkOf(held.root), jwkOf(next.root)] });
  pinned.state.answer = () => pinned.serve(documentOf(next, [honest]), { by: next.freshness });
  await pinned.keys.reload();
  state.now += 1000;
  state.answer = () => serve(documentOf(next, [honest]), { by: next.freshness });
  await expect(keys.reload()).rejects.toMatchObject({ code: 'keys_unavailable' });
});

test('a snapshot is judged again by the root, and used no longer than the set', async () => {
  const kept: KeySetSnapshot[] = [];
  const before = world({ onSnapshot: (snapshot) => kept.push(snapshot) });
  await before.kids();
  before.state.now += 1000;
  await before.kids();
  const [snapshot, confirmed] = JSON.parse(JSON.stringify(kept)) as [KeySetSnapshot, KeySetSnapshot];
  expect(confirmed.vouched?.document).toBe(snapshot.vouched?.document);
  const down = { staleSeconds: 600, fetch: async () => Promise.reject(new Error('down')) };
  const after = world({ snapshot, ...down });
  expect(await after.kids()).toEqual([honest.kid]);
  after.state.now += 60_000;
  await expect(after.kids()).rejects.toMatchObject({ code: 'keys_unavailable' });
  const forgeries: KeySetSnapshot[] = [
    { ...snapshot, jwks: impostor.jwks, vouched: { document: JSON.stringify(impostor.jwks), statement: '' } },
    { jwks: impostor.jwks, fetchedAt: snapshot.fetchedAt, freshSeconds: 60 },
  ];
  for (const forgery of forgeries) {
    await expect(world({ snapshot: forgery, ...down }).kids()).rejects.toMatchObject({
      code: 'keys_unavailable',
    });
  }
});

test.each([
  ['nothing', undefined],
  ['an empty list', []],
  ['a private key', { ...jwkOf(newKey()), d: 'A'.repeat(43) }],
  ['another kind of key', { kty: 'RSA', n: 'AQAB', e: 'AQAB' }],
  ['a list with another kind of key', [jwkOf(newKey()), { kty: 'RSA', n: 'AQAB', e: 'AQAB' }]],
  ['too many', Array.from({ length: 5 }, () => jwkOf(newKey()))],
])('refuses %s as a root', (_name, root) => {
  expect(() => createRootedKeySet(urlOf(HERE), { root: root as never })).toThrow(TypeError);
});

test.each(['roots', 'onRefusedKey'])('refuses the option %s', (name) => {
  const options = { root: jwkOf(held.root), [name]: () => undefined };
  expect(() => createRootedKeySet(urlOf(HERE), options)).toThrow(TypeError);
});

test.each(['https://ori.example/jwks.json', `${urlOf(HERE)}?a=1`, `${urlOf(HERE)}#a`])(
  'with roots, of which there may be four, the URL has to name base address and intern: %s',
  (url) => {
    const root = Array.from({ length: 4 }, () => jwkOf(newKey()));
    expect(() => createRootedKeySet(url, { root })).toThrow(TypeError);
    expect(() => createRootedKeySet(urlOf(HERE), { root })).not.toThrow();
  },
);
