import { ProofError } from '@ori/proof';
import { describe, expect, test } from 'vitest';
import { keepAnswers } from './answers/keep-answers.ts';
import { createLocalKeySet } from './keys/local.ts';
import type { VerifierOptions } from './policy.ts';
import { memoryReplayStore } from './replay/memory/store.ts';
import type { ReplayStore } from './replay/replay-store.ts';
import type { SignedRequest } from './request.ts';
import { createTestSigner, type TestProofOptions, type TestSigner } from './testing/testing.ts';
import { createVerifier } from './verifier.ts';

const NOW = 1_789_000_000;

/** A daemon at a fixed time, its store an hour old, and a signer of its intern. */
function world(options: Partial<VerifierOptions> = {}) {
  let ms = (NOW - 3600) * 1000;
  const now = (): number => ms;
  const signer = createTestSigner({ internId: 'int_7Qm2', now });
  const replay = memoryReplayStore({ now });
  ms = NOW * 1000;
  const keys = createLocalKeySet(signer.jwks);
  const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay, now, ...options });
  const request = (proof: Partial<TestProofOptions> = {}): SignedRequest =>
    signer.request({ path: '/api/invoke', body: '{"prompt":"hello"}', user: 'user_2abc', ...proof });
  return { verifier, request };
}

/** Counts its calls. */
function spyStore(): ReplayStore & { spends: number } {
  return {
    spends: 0,
    spend() {
      this.spends += 1;
      return 'spent';
    },
  };
}

test('returns the caller once', async () => {
  const { verifier, request } = world();
  const signed = request();
  expect(await verifier.verify(signed)).toEqual({
    user: 'user_2abc',
    internId: 'int_7Qm2',
    version: 2,
    issuedAt: new Date(NOW * 1000),
    method: 'POST',
    path: '/api/invoke',
    nonce: expect.stringMatching(/^[\w-]{22}$/),
  });
  await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
});

test('returns no nonce, method or path with version 1, which has none', async () => {
  const { verifier, request } = world({ acceptV1: true });
  expect(await verifier.verify(request({ version: 1 }))).toEqual({
    user: 'user_2abc',
    internId: 'int_7Qm2',
    version: 1,
    issuedAt: new Date(NOW * 1000),
  });
});

test('a question is spent as one, and not as a call that has an answer', async () => {
  const callers: unknown[] = [];
  const replay: ReplayStore = {
    ...memoryReplayStore(),
    spend({ caller }) {
      callers.push(caller);
      return 'spent';
    },
  };
  const { verifier, request } = world({ replay, answers: keepAnswers() });
  await verifier.verify(request());
  await verifier.verify(request({ path: `/.well-known/ori/calls/${'A'.repeat(22)}`, body: '' }));
  expect(callers).toEqual(['user_2abc', undefined]);
});

test('the store is asked last, and only about timely proofs with a valid signature', async () => {
  const replay = spyStore();
  const { verifier, request } = world({ replay });
  const refused = [
    { ...request(), rawHeaders: [] },
    { ...request(), target: '/api/invoke?x' },
    request({ timestamp: NOW - 61 }),
    request({ timestamp: NOW + 3 }),
    { ...request(), body: Buffer.from('other') },
  ];
  for (const each of refused) await expect(verifier.verify(each)).rejects.toThrow(ProofError);
  expect(replay.spends).toBe(0);
  await verifier.verify(request());
  expect(replay.spends).toBe(1);
});

test('after every clock was ahead, a new key and an empty store end the refusals, and accept nothing twice', async () => {
  const hourMs = 3_600_000;
  const clock = { ms: NOW * 1000, aheadMs: hourMs };
  const [internId, now] = ['int_7Qm2', () => clock.ms + clock.aheadMs];
  const start = ({ jwks }: TestSigner) => {
    const replay = memoryReplayStore({ now, uptime: () => clock.ms });
    return createVerifier({ internId, keys: createLocalKeySet(jwks), replay, now });
  };
  const call = { path: '/api/invoke', body: '{}' };
  const [former, next] = [createTestSigner({ internId, now }), createTestSigner({ internId, now })];
  const daemon = start(former);
  clock.ms += 10_000;
  const early = former.request(call);
  await daemon.verify(early);
  clock.ms += hourMs / 2;
  await daemon.verify(former.request(call));
  clock.aheadMs = 0;
  await expect(daemon.verify(former.request(call))).rejects.toMatchObject({ code: 'proof_expired' });
  const [recovered, withFormerKey] = [start(next), start(former)];
  clock.ms += 10_000;
  await recovered.verify(next.request(call));
  // Now it is as late as the clocks said when the first call was made.
  clock.ms = NOW * 1000 + hourMs + 10_000;
  await expect(recovered.verify(early)).rejects.toMatchObject({ code: 'signature_invalid' });
  await withFormerKey.verify(early);
});

test('a proof whose body arrives for longer than 30 s is not spent', async () => {
  const replay = spyStore();
  let aheadMs = 0;
  const now = () => NOW * 1000 + aheadMs;
  const { verifier, request } = world({ replay, now });
  const [prompt, late] = [verifier.begin(request({ body: '' })), verifier.begin(request({ body: '' }))];
  aheadMs = 30_000;
  await prompt.finish();
  aheadMs = 30_001;
  await expect(late.finish()).rejects.toMatchObject({ code: 'proof_expired' });
  expect(replay.spends).toBe(1);
});

describe('a streamed body', () => {
  const bytes = Buffer.from('{"prompt":"hello"}');

  test('accepts no bytes once finished', async () => {
    const { verifier, request } = world();
    const open = verifier.begin(request());
    open.update(bytes);
    await open.finish();
    expect(() => open.update(bytes)).toThrow(TypeError);
    await expect(open.finish()).rejects.toThrow(TypeError);
  });

  test.each(['text', [1, 2], new ArrayBuffer(2), undefined])('accepts only bytes, not %o', (chunk) => {
    const { verifier, request } = world();
    expect(() => verifier.begin(request()).update(chunk as never)).toThrow(TypeError);
  });
});

describe('misuse throws a TypeError before any input is read', () => {
  test.each([
    ['a text body', { body: '{"prompt":"hello"}' }],
    ['a parsed body', { body: { prompt: 'hello' } }],
    ['an ArrayBuffer', { body: new ArrayBuffer(3) }],
    ['no body', { body: undefined }],
    ['a Headers object', { rawHeaders: new Headers() }],
    ["node's joined headers", { rawHeaders: { host: 'a' } }],
    ['a list of pairs', { rawHeaders: [['host', 'a']] }],
    ['lists of values', { rawHeaders: ['host', ['a']] }],
    ['half a pair', { rawHeaders: ['host'] }],
    ['no method', { method: undefined }],
    ['no target', { target: undefined }],
  ])('%s', async (_name, wrong) => {
    const replay = spyStore();
    const { verifier, request } = world({ replay });
    await expect(verifier.verify({ ...request(), ...wrong } as never)).rejects.toThrow(TypeError);
    expect(replay.spends).toBe(0);
  });

  test.each([undefined, null, 'POST', new Request('http://daemon/', { method: 'POST', body: '{}' })])(
    'not a request: %o',
    async (wrong) => {
      const { verifier } = world();
      await expect(verifier.verify(wrong as never)).rejects.toThrow(TypeError);
      expect(() => verifier.begin(wrong as never)).toThrow(TypeError);
    },
  );

  test.each([
    { internId: undefined },
    { internId: 'int 1' },
    { keys: undefined },
    { keys: { keys: [] } },
    { replay: undefined },
    { replay: new Map() },
    { maxAgeSeconds: '60' },
    { acceptV1: 'yes' },
    { contentType: 5 },
    { contentType: ['application/json'] },
    { contentType: 'application/json; charset=utf-8' },
    { contentType: 'multipart/form-data' },
    { answers: true },
    { onOutcome: 'log' },
    { onAccepted: 'log' },
    { now: NOW },
    { maxAge: 5 },
  ])('options %o', (wrong) => {
    expect(() => world(wrong as never)).toThrow(/^\w+: (?:expected|unknown) /);
  });

  test('no options', () => {
    for (const none of [undefined, null])
      expect(() => createVerifier(none as never)).toThrow('createVerifier: expected options');
  });
});

test('refuses when a store throws, with its error as the cause', async () => {
  const cause = new Error('lost');
  const { verifier, request } = world({ replay: { spend: () => Promise.reject(cause) } });
  await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unavailable', cause });
});

test.each([undefined, null, false, true, 'SPENT', {}])(
  'refuses when a store answers a spend with %o',
  async (answer) => {
    const { verifier, request } = world({ replay: { spend: (async () => answer) as never } });
    await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unavailable' });
  },
);
