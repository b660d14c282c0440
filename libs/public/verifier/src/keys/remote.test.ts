import { once } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createTestReplayStore, createTestSigner } from '../testing/testing.ts';
import { createVerifier } from '../verifier.ts';
import type { KeySetSnapshot, RemoteKeySetOptions } from './fetched.ts';
import { createRemoteKeySet } from './remote.ts';

/** A daemon that fetches its keys from an address under the test's control. */
function world(options: RemoteKeySetOptions = {}) {
  const state = { nowMs: 0, fetches: 0, jwks: { keys: [] } as object, isDown: false };
  const keys = createRemoteKeySet('https://ori.example/v1/interns/int_1/daemon/jwks.json', {
    now: () => state.nowMs,
    fetch: async () => {
      state.fetches += 1;
      return state.isDown ? new Response('down', { status: 500 }) : Response.json(state.jwks);
    },
    ...options,
  });
  const verifier = createVerifier({ internId: 'int_1', keys, replay: createTestReplayStore() });
  const verify = (signer = first) => verifier.verify(signer.request({ path: '/', body: '{}' }));
  const first = createTestSigner({ internId: 'int_1' });
  state.jwks = first.jwks;
  return { state, keys, verify, first };
}

/** The codes of the warnings until the test ends, without the one that the first set without a root causes. */
function warningCodes(): unknown[] {
  const codes: unknown[] = [];
  const emit = (_message: string, { code }: { code: string }): void => {
    if (code !== 'key_set_unrooted') codes.push(code);
  };
  const spy = vi.spyOn(process, 'emitWarning').mockImplementation(emit as never);
  onTestFinished(() => spy.mockRestore());
  return codes;
}

test('fetches the keys once for all waiting proofs', async () => {
  const { state, verify } = world();
  await Promise.all(Array.from({ length: 50 }, () => verify()));
  expect(state.fetches).toBe(1);
});

test('finds a newly published key', async () => {
  const { state, verify } = world();
  await verify();
  const second = createTestSigner({ internId: 'int_1' });
  state.jwks = second.jwks;
  state.nowMs = 10_000;
  await expect(verify(second)).resolves.toBeDefined();
  expect(state.fetches).toBe(2);
});

// SPEC.md K17.
test('fetches at most once per cool-down during a flood of proofs under unknown keys', async () => {
  const { state, verify } = world();
  await verify();
  const stranger = createTestSigner({ internId: 'int_1' });
  const flood = async (): Promise<void> => {
    for (const verdict of await Promise.allSettled(Array.from({ length: 200 }, () => verify(stranger)))) {
      expect(verdict).toMatchObject({ status: 'rejected', reason: { code: 'signature_invalid' } });
    }
  };
  await flood();
  expect(state.fetches).toBe(1);
  state.nowMs = 10_000;
  await flood();
  await flood();
  expect(state.fetches).toBe(2);
});

test('fetches again, once per cool-down, for a time that no key covers', async () => {
  const { state, verify, first } = world();
  state.jwks = { keys: first.jwks.keys.map((key) => ({ ...key, exp: 1 })) };
  await expect(verify()).rejects.toMatchObject({ code: 'key_unknown' });
  await expect(verify()).rejects.toMatchObject({ code: 'key_unknown' });
  expect(state.fetches).toBe(1);
  state.jwks = first.jwks;
  state.nowMs = 10_000;
  await expect(verify()).resolves.toBeDefined();
});

// SPEC.md K16.
test('uses known keys for a bounded time while the URL fails', async () => {
  const { state, verify } = world();
  await verify();
  state.isDown = true;
  state.nowMs = 659_000;
  await expect(verify()).resolves.toBeDefined();
  state.nowMs = 660_000;
  await expect(verify()).rejects.toMatchObject({ name: 'UnavailableError', code: 'keys_unavailable' });
  state.isDown = false;
  state.nowMs = 680_000;
  await expect(verify()).resolves.toBeDefined();
});

// SPEC.md K19.
test('uses no document of more than 64 KiB', async () => {
  const { state, verify, first } = world();
  const document = (length: number) => {
    const bare = JSON.stringify({ ...first.jwks, more: '' });
    return { ...first.jwks, more: 'x'.repeat(length - bare.length) };
  };
  state.jwks = document(65_537);
  await expect(verify()).rejects.toMatchObject({ code: 'keys_unavailable' });
  state.jwks = document(65_536);
  state.nowMs = 10_000;
  await expect(verify()).resolves.toBeDefined();
});

// SPEC.md K18.
test('refuses every proof without keys', async () => {
  const { state, verify } = world();
  state.isDown = true;
  await expect(verify()).rejects.toMatchObject({ code: 'keys_unavailable' });
});

test('reports once which key was left out and why, and uses the rest', async () => {
  const refused = vi.fn();
  const { state, verify, first } = world({ onRefusedKey: refused });
  const [good] = first.jwks.keys;
  state.jwks = { keys: [{ ...good, kid: 'another' }, good] };
  await verify();
  state.nowMs = 60_000;
  await verify();
  expect(state.fetches).toBe(2);
  expect(refused.mock.calls).toMatchObject([[{ index: 0, error: { code: 'key_id_mismatch' } }]]);
});

test('warns the operator of a key that was left out, by default', async () => {
  const { state, verify, first } = world();
  const [good] = first.jwks.keys;
  state.jwks = { keys: [good, good] };
  await new Promise(setImmediate); // for the warnings of other tests
  const warned = once(process, 'warning');
  await verify();
  const [warning] = await warned;
  expect(warning).toMatchObject({ name: 'OriVerifierWarning', code: 'key_repeated' });
  expect(warning.message).toContain('key 1');
  expect(warning.message).toContain('https://ori.example');
});

test('reload fetches immediately, and rejects if that fails', async () => {
  const { state, keys, verify } = world();
  expect(keys.jwks()).toBeUndefined();
  await keys.reload();
  const second = createTestSigner({ internId: 'int_1' });
  state.jwks = second.jwks;
  await keys.reload();
  expect(keys.jwks()).toEqual(second.jwks);
  await expect(verify(second)).resolves.toBeDefined();
  state.isDown = true;
  await expect(keys.reload()).rejects.toMatchObject({ code: 'keys_unavailable' });
  expect(state.fetches).toBe(3);
  await expect(verify(second)).resolves.toBeDefined();
});

test.each([{ stale: 1 }, { onRefusedKey: 1 }])(
  'refuses an unknown option, and a value of another type: %o',
  (options) => {
    expect(() => createRemoteKeySet('https://ori.example/', options as never)).toThrow(TypeError);
  },
);

test('refuses every proof once closed', async () => {
  const { keys, verify } = world();
  await verify();
  keys.close();
  await expect(verify()).rejects.toMatchObject({ code: 'keys_unavailable' });
});

// SPEC.md K14.
test('refuses an http URL, which anybody on the network could answer', () => {
  expect(() => createRemoteKeySet('http://ori.example/jwks.json')).toThrow(TypeError);
});

test('checks every second whether a key was revoked', async () => {
  const { state, verify } = world({ revocationCheckSeconds: 1 });
  await verify();
  state.jwks = { keys: [] };
  state.nowMs = 1000;
  await expect(verify()).rejects.toMatchObject({ code: 'key_unknown' });
});

test('uses no key after a failed revocation check, unless staleSeconds is set', async () => {
  for (const [options, verdict] of [
    [{ revocationCheckSeconds: 1 }, 'keys_unavailable'],
    [{ revocationCheckSeconds: 1, staleSeconds: 600 }, undefined],
  ] as const) {
    const { state, verify } = world(options);
    await verify();
    state.isDown = true;
    state.nowMs = 1000;
    const refused = await verify().catch((error: { code: string }) => error);
    expect((refused as { code?: string }).code).toBe(verdict);
  }
});

test('accepts revocationCheckSeconds of 60', () => {
  const { keys } = world({ revocationCheckSeconds: 60 });
  expect(keys.current).toBeTypeOf('function');
});

test.each([0, -1, 61, Number.NaN, '1'])('refuses revocationCheckSeconds of %o', (revocationCheckSeconds) => {
  const options = { revocationCheckSeconds: revocationCheckSeconds as number };
  // Also where these replace what follows from it.
  for (const others of [{}, { freshSeconds: 1, coolDownSeconds: 1 }]) {
    expect(() => createRemoteKeySet('https://ori.example/', { ...options, ...others })).toThrow(TypeError);
  }
});

test('uses the keys that an earlier process fetched, for as long as that process could', async () => {
  const snapshots: KeySetSnapshot[] = [];
  const before = world({ onSnapshot: (snapshot) => snapshots.push(snapshot) });
  await before.verify();
  const [snapshot] = JSON.parse(JSON.stringify(snapshots)) as [KeySetSnapshot];
  const { state, verify } = world({ snapshot, fetch: async () => Promise.reject(new Error('down')) });
  await expect(verify(before.first)).resolves.toBeDefined();
  state.nowMs = 59_000;
  await expect(verify(before.first)).resolves.toBeDefined();
  state.nowMs = 661_000;
  await expect(verify(before.first)).rejects.toMatchObject({ code: 'keys_unavailable' });
});

test('uses a snapshot that was never fresh only while the URL fails', async () => {
  const { jwks } = createTestSigner({ internId: 'int_1' });
  const snapshot = { jwks, fetchedAt: Date.now(), freshSeconds: 0 };
  const { keys } = world({ snapshot, fetch: async () => Promise.reject(new Error('down')) });
  expect(keys.jwks()).toBeUndefined();
  expect(await keys.current()).toHaveLength(1);
});

test.each<[string, (snapshot: KeySetSnapshot) => object, string[]]>([
  ['too old', (snapshot) => ({ ...snapshot, fetchedAt: snapshot.fetchedAt - 661_000 }), []],
  [
    'from the future',
    (snapshot) => ({ ...snapshot, fetchedAt: snapshot.fetchedAt + 60_000 }),
    ['key_set_snapshot'],
  ],
  ['without a time', ({ jwks }) => ({ jwks }), ['key_set_snapshot']],
  ['without an end', ({ jwks, fetchedAt }) => ({ jwks, fetchedAt }), ['key_set_snapshot']],
  ['not a key set', (snapshot) => ({ ...snapshot, jwks: { keys: 'none' } }), ['key_set_snapshot']],
])('fetches if the snapshot is %s', async (_what, change, warnings) => {
  const codes = warningCodes();
  const stranger = createTestSigner({ internId: 'int_1' });
  const snapshot = change({ jwks: stranger.jwks, fetchedAt: Date.now(), freshSeconds: 60 }) as KeySetSnapshot;
  const { state, verify } = world({ snapshot });
  await expect(verify()).resolves.toBeDefined();
  expect(state.fetches).toBe(1);
  expect(codes).toEqual(warnings);
});

test('a hook that throws does not lose the keys, and the operator is warned', async () => {
  const codes = warningCodes();
  const onSnapshot = (): never => {
    throw new Error('the disk is full');
  };
  const { verify } = world({ onSnapshot });
  await expect(verify()).resolves.toBeDefined();
  expect(codes).toEqual(['key_set_snapshot']);
});

test('takes an option that is undefined as absent', async () => {
  const codes = warningCodes();
  const { verify } = world({
    freshSeconds: undefined,
    revocationCheckSeconds: undefined,
    snapshot: undefined,
  });
  await expect(verify()).resolves.toBeDefined();
  expect(codes).toEqual([]);
});

test('says once that a key set has no usable key, and again when that comes back', async () => {
  const codes = warningCodes();
  const { state, verify, first } = world({ onRefusedKey: () => {} });
  const refetch = async (jwks: object) => {
    state.jwks = jwks;
    state.nowMs += 10_000;
    await verify(createTestSigner({ internId: 'int_1' })).catch(() => {});
  };
  for (const [jwks, times] of [
    [{ keys: [] }, 1],
    [{ keys: [] }, 1],
    [first.jwks, 1],
    [{ keys: [] }, 2],
  ] as const) {
    await refetch(jwks);
    expect(codes).toEqual(Array(times).fill('key_set_empty'));
  }
});
