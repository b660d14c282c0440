import { ProofError } from '@ori/proof';
import { describe, expect, test } from 'vitest';
import { createLocalKeySet } from './keys/local.ts';
import type { VerifierOptions } from './policy.ts';
import { memoryReplayStore } from './replay/memory/store.ts';
import type { ReplayStore } from './replay/replay-store.ts';
import type { SignedRequest } from './request.ts';
import { createTestSigner, type TestProofOptions } from './testing.ts';
import { createVerifier } from './verifier.ts';

const NOW = 1_789_000_000;
const SIGNATURE = 'x-ori-invoke-signature';

/** A daemon at a fixed time, its store an hour old, and a signer of its intern. */
function world(options: Partial<VerifierOptions> = {}) {
  const clock = { ms: (NOW - 3600) * 1000 };
  const now = (): number => clock.ms;
  const signer = createTestSigner({ internId: 'int_7Qm2', now });
  const replay = memoryReplayStore({ now });
  clock.ms = NOW * 1000;
  const keys = createLocalKeySet(signer.jwks);
  const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay, now, ...options });
  const request = (proof: Partial<TestProofOptions> = {}): SignedRequest =>
    signer.request({ path: '/api/invoke', body: '{"prompt":"hello"}', user: 'user_2abc', ...proof });
  return { clock, signer, keys, replay, verifier, request };
}

function withHeader(request: SignedRequest, name: string, value: string | undefined): SignedRequest {
  const kept = request.rawHeaders.flatMap((text, index, list) =>
    index % 2 === 0 && text.toLowerCase() !== name ? [text, list[index + 1] ?? ''] : [],
  );
  return { ...request, rawHeaders: value === undefined ? kept : [...kept, name, value] };
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

test('accepts one of a thousand copies that arrive together', async () => {
  const { verifier, request } = world();
  const signed = request();
  const verdicts = await Promise.allSettled(Array.from({ length: 1000 }, () => verifier.verify(signed)));
  expect(verdicts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

describe('refuses', () => {
  const cases: [string, string, (request: SignedRequest) => SignedRequest][] = [
    ['a request without a proof', 'proof_missing', (r) => withHeader(r, SIGNATURE, undefined)],
    [
      'a repeated proof header',
      'proof_malformed',
      (r) => ({ ...r, rawHeaders: [...r.rawHeaders, ...r.rawHeaders] }),
    ],
    ['another method', 'request_not_coverable', (r) => ({ ...r, method: 'PUT' })],
    ['a method in other capitals', 'request_not_coverable', (r) => ({ ...r, method: 'post' })],
    ['a query', 'request_not_coverable', (r) => ({ ...r, target: `${r.target}?a=1` })],
    ['an empty query', 'request_not_coverable', (r) => ({ ...r, target: `${r.target}?` })],
    ['a fragment', 'request_not_coverable', (r) => ({ ...r, target: `${r.target}#a` })],
    [
      'an absolute-form target',
      'request_not_coverable',
      (r) => ({ ...r, target: `http://daemon${r.target}` }),
    ],
    ['an asterisk-form target', 'request_not_coverable', (r) => ({ ...r, target: '*' })],
    ['another media type', 'request_not_coverable', (r) => withHeader(r, 'content-type', 'text/plain')],
    ['no media type', 'request_not_coverable', (r) => withHeader(r, 'content-type', undefined)],
    [
      'two media types',
      'request_not_coverable',
      (r) => ({ ...r, rawHeaders: [...r.rawHeaders, 'Content-Type', 'application/json'] }),
    ],
    ['a content coding', 'request_not_coverable', (r) => withHeader(r, 'content-encoding', 'gzip')],
    [
      'a second content coding',
      'request_not_coverable',
      (r) => ({
        ...r,
        rawHeaders: [...r.rawHeaders, 'content-encoding', 'identity', 'Content-Encoding', 'br'],
      }),
    ],
    ['another path', 'signature_invalid', (r) => ({ ...r, target: '/api/other' })],
    ['another spelling of the path', 'signature_invalid', (r) => ({ ...r, target: '/api/%69nvoke' })],
    ['another body', 'signature_invalid', (r) => ({ ...r, body: Buffer.from('{"prompt":"hellO"}') })],
    ['another user', 'signature_invalid', (r) => withHeader(r, 'x-ori-invoke-user', 'user_3abc')],
    [
      'another timestamp',
      'signature_invalid',
      (r) => withHeader(r, 'x-ori-invoke-timestamp', String(NOW - 1)),
    ],
    [
      'another nonce',
      'signature_invalid',
      (r) => withHeader(r, 'x-ori-invoke-nonce', 'AAECAwQFBgcICQoLDA0ODw'),
    ],
  ];
  test.each(cases)('%s, without spending it', async (_name, code, change) => {
    const { verifier, request } = world();
    const signed = request();
    await expect(verifier.verify(change(signed))).rejects.toMatchObject({ name: 'ProofError', code });
    await expect(verifier.verify(signed)).resolves.toMatchObject({ user: 'user_2abc' });
  });

  test('a proof for another intern', async () => {
    const { keys, replay, request, clock } = world();
    const other = createVerifier({ internId: 'int_other', keys, replay, now: () => clock.ms });
    await expect(other.verify(request())).rejects.toMatchObject({ code: 'signature_invalid' });
  });
});

test.each(['application/json; charset=utf-8', 'Application/JSON', 'application/json ;charset="UTF-8"'])(
  'accepts the media type with its charset and in any case: %s',
  async (type) => {
    const { verifier, request } = world();
    await expect(verifier.verify(withHeader(request(), 'content-type', type))).resolves.toBeDefined();
  },
);

test('requires the configured media type', async () => {
  const { verifier, request } = world({ contentType: 'application/cbor' });
  await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'request_not_coverable' });
  await expect(
    verifier.verify(withHeader(request(), 'content-type', 'application/cbor')),
  ).resolves.toBeDefined();
});

test('treats the identity coding as none', async () => {
  const { verifier, request } = world();
  await expect(verifier.verify(withHeader(request(), 'content-encoding', 'Identity'))).resolves.toBeDefined();
});

test.each([
  [NOW - 61, 'proof_expired'],
  [NOW - 60, undefined],
  [NOW + 2, undefined],
  [NOW + 3, 'proof_not_yet_valid'],
])('accepts a proof stamped %i at that time', async (timestamp, code) => {
  const { verifier, request } = world();
  const verdict = await verifier.verify(request({ timestamp })).then(
    () => undefined,
    (error: unknown) => (error instanceof ProofError ? error.code : error),
  );
  expect(verdict).toBe(code);
});

describe('keys', () => {
  const interval = (members: object) => {
    const { signer, replay, request, clock } = world();
    const jwks = { keys: signer.jwks.keys.map((key) => ({ ...key, ...members })) };
    const keys = createLocalKeySet(jwks);
    const verifier = createVerifier({ internId: 'int_7Qm2', keys, replay, now: () => clock.ms });
    return verifier.verify(request());
  };

  test.each([{ nbf: NOW }, { exp: NOW + 1 }, { nbf: NOW - 5, exp: NOW + 5 }])(
    'accepts a proof within %o',
    async (members) => {
      await expect(interval(members)).resolves.toBeDefined();
    },
  );

  test.each([{ nbf: NOW + 1 }, { exp: NOW }])('has no valid key outside of %o', async (members) => {
    await expect(interval(members)).rejects.toMatchObject({ code: 'key_unknown' });
  });

  test('tries three keys that are valid at the timestamp, and no fourth', async () => {
    const { signer, replay, request, clock } = world();
    const [mine] = signer.jwks.keys;
    const others = Array.from({ length: 3 }, () => createTestSigner({ internId: 'int_7Qm2' }).jwks.keys[0]);
    const verify = (jwks: unknown) =>
      createVerifier({
        internId: 'int_7Qm2',
        keys: createLocalKeySet({ keys: jwks }),
        replay,
        now: () => clock.ms,
      }).verify(request());
    await expect(verify([others[0], others[1], mine])).resolves.toBeDefined();
    await expect(verify([...others, mine])).rejects.toMatchObject({ code: 'signature_invalid' });
    const past = others.map((key) => ({ ...key, exp: NOW }));
    await expect(verify([...past, mine])).resolves.toBeDefined();
  });
});

describe('version 1', () => {
  test('is refused by default', async () => {
    const { verifier, request } = world();
    await expect(verifier.verify(request({ version: 1 }))).rejects.toMatchObject({
      code: 'proof_version_not_accepted',
    });
  });

  test('is accepted once if enabled', async () => {
    const { verifier, request } = world({ acceptV1: true });
    const signed = request({ version: 1 });
    expect(await verifier.verify(signed)).toEqual({
      user: 'user_2abc',
      internId: 'int_7Qm2',
      version: 1,
      issuedAt: new Date(NOW * 1000),
    });
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
  });

  test('is not a fallback for a bad version 2 proof', async () => {
    const { verifier, request } = world({ acceptV1: true });
    const signed = withHeader(request(), 'x-ori-invoke-nonce', 'AAECAwQFBgcICQoLDA0ODw');
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'signature_invalid' });
  });

  const stripped = (request: SignedRequest): SignedRequest =>
    withHeader(withHeader(request, `${SIGNATURE}-v2`, undefined), 'x-ori-invoke-nonce', undefined);

  test('made of an accepted version 2 proof by stripping it is refused', async () => {
    const { verifier, request } = world({ acceptV1: true });
    const signed = request();
    await verifier.verify(signed);
    await expect(verifier.verify(stripped(signed))).rejects.toMatchObject({ code: 'nonce_replayed' });
  });

  test('accepted first also spends the version 2 proof that it was stripped from', async () => {
    const { verifier, request } = world({ acceptV1: true });
    const signed = request();
    await verifier.verify(stripped(signed));
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
  });

  test('does not block a second version 2 proof of the same user, body and second', async () => {
    const { verifier, request } = world({ acceptV1: true });
    await verifier.verify(request());
    await expect(verifier.verify(request())).resolves.toBeDefined();
  });
});

describe('order of judgement', () => {
  /** The fault of each step, in order; a request has this fault and all later ones. */
  const faults: [string, (request: SignedRequest) => SignedRequest][] = [
    ['proof_malformed', (r) => withHeader(r, 'x-ori-invoke-user', 'a b')],
    ['request_not_coverable', (r) => ({ ...r, target: '/api/invoke?x' })],
    ['proof_expired', (r) => withHeader(r, 'x-ori-invoke-timestamp', '1')],
    ['signature_invalid', (r) => ({ ...r, body: Buffer.from('other') })],
  ];
  test.each(faults.map(([code], index) => [code, index] as const))(
    '%s before all later faults',
    async (code, index) => {
      const { verifier, request } = world();
      const faulty = faults.slice(index).reduce((r, [, change]) => change(r), request());
      await expect(verifier.verify(faulty)).rejects.toMatchObject({ code });
    },
  );

  test.each([NOW - 61, NOW + 3])('the store is not asked about a proof stamped %i', async (timestamp) => {
    const replay = spyStore();
    const { verifier, request } = world({ replay });
    await expect(verifier.verify(request({ timestamp }))).rejects.toThrow(ProofError);
    expect(replay.spends).toBe(0);
  });

  test('the store is asked last, and only about proofs with a valid signature', async () => {
    const replay = spyStore();
    const { verifier, request } = world({ replay });
    for (const [, change] of faults) await verifier.verify(change(request())).catch(() => undefined);
    expect(replay.spends).toBe(0);
    await verifier.verify(request());
    expect(replay.spends).toBe(1);
  });
});

describe('a streamed body', () => {
  const bytes = Buffer.from('{"prompt":"hello"}');

  test('is verified by its bytes, however they are split', async () => {
    const { verifier, request } = world();
    for (const size of [1, 7, 18]) {
      const open = verifier.begin(request());
      for (let at = 0; at < bytes.length; at += size) open.update(bytes.subarray(at, at + size));
      await expect(open.finish()).resolves.toMatchObject({ user: 'user_2abc' });
    }
  });

  test('is not verified before its end', async () => {
    const { verifier, request } = world();
    const open = verifier.begin(request());
    open.update(bytes.subarray(1));
    await expect(open.finish()).rejects.toMatchObject({ code: 'signature_invalid' });
  });

  test('is not awaited if the headers are refused', () => {
    const { verifier, request } = world();
    expect(() => verifier.begin(withHeader(request(), SIGNATURE, undefined))).toThrow(ProofError);
  });

  test.each([
    [30_000, undefined],
    [30_001, 'proof_expired'],
  ])('that took %i ms', async (tookMs, code) => {
    const { verifier, request, clock } = world();
    const open = verifier.begin(request({ timestamp: NOW - 60 }));
    open.update(bytes);
    clock.ms += tookMs;
    if (code === undefined) await expect(open.finish()).resolves.toBeDefined();
    else await expect(open.finish()).rejects.toMatchObject({ code });
  });

  test('and the same proof in another request are accepted once together', async () => {
    const { verifier, request } = world();
    const signed = request();
    const open = verifier.begin(signed);
    open.update(bytes);
    await verifier.verify(signed);
    await expect(open.finish()).rejects.toMatchObject({ code: 'nonce_replayed' });
  });

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
    { internId: '' },
    { internId: 'int 1' },
    { internId: undefined },
    { keys: undefined },
    { keys: { keys: [] } },
    { replay: undefined },
    { replay: new Map() },
    { maxAgeSeconds: 0 },
    { maxAgeSeconds: 601 },
    { maxAgeSeconds: '60' },
    { maxAgeSeconds: 1.5 },
    { clockToleranceSeconds: -1 },
    { clockToleranceSeconds: 61 },
    { acceptV1: 'yes' },
    { contentType: '' },
    { contentType: 'Application/JSON' },
    { contentType: 'application/json; charset=utf-8' },
    { contentType: 5 },
    { contentType: ['application/json'] },
    { onOutcome: 'log' },
    { onAccepted: 'log' },
    { now: NOW },
    { maxAge: 5 },
  ])('options %o', (wrong) => {
    expect(() => world(wrong as never)).toThrow(TypeError);
  });

  test('no options', () => {
    expect(() => createVerifier(undefined as never)).toThrow(TypeError);
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
