import { bodySha256, parseProofHeaders, signingInputV1, signingInputV2, UnavailableError } from '@ori/proof';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createLocalKeySet } from './keys/local.ts';
import { PROOF_OUTCOMES, type ProofOutcome, type ProofReport } from './outcome.ts';
import type { VerifierOptions } from './policy.ts';
import { memoryReplayStore } from './replay/memory/store.ts';
import { createTestSigner } from './testing/testing.ts';
import { createVerifier } from './verifier.ts';

const NOW = 1_789_000_000;

function world(options: Partial<VerifierOptions> = {}) {
  const clock = { ms: (NOW - 3600) * 1000 };
  const now = (): number => clock.ms;
  const signer = createTestSigner({ internId: 'int_7Qm2', now });
  const replay = memoryReplayStore({ now });
  clock.ms = NOW * 1000;
  const outcomes: ProofOutcome[] = [];
  const verifier = createVerifier({
    internId: 'int_7Qm2',
    keys: createLocalKeySet(signer.jwks),
    replay,
    now,
    onOutcome: ({ outcome }) => void outcomes.push(outcome),
    ...options,
  });
  const request = () => signer.request({ path: '/api/invoke', body: '{}', user: 'user_2abc' });
  return { outcomes, verifier, request };
}

describe('onOutcome is called once', () => {
  test('for an accepted proof, and for its replay', async () => {
    const { outcomes, verifier, request } = world();
    const signed = request();
    await verifier.verify(signed);
    await verifier.verify(signed).catch(() => undefined);
    expect(outcomes).toEqual(['accepted', 'nonce_replayed']);
  });

  test('for a proof with a streamed body, at finish', async () => {
    const { outcomes, verifier, request } = world();
    const { body, ...head } = request();
    const open = verifier.begin(head);
    open.update(body);
    expect(outcomes).toEqual([]);
    await open.finish();
    expect(outcomes).toEqual(['accepted']);
  });

  test('for a streamed one that is refused by its headers', () => {
    const { outcomes, verifier, request } = world();
    expect(() => verifier.begin({ ...request(), rawHeaders: [] })).toThrow();
    expect(outcomes).toEqual(['proof_missing']);
  });

  test('for a request that could not be judged', async () => {
    const spend = () => Promise.reject(new UnavailableError('replay_store_unavailable', 'no answer'));
    const { outcomes, verifier, request } = world({ replay: { spend } });
    await verifier.verify(request()).catch(() => undefined);
    expect(outcomes).toEqual(['replay_store_unavailable']);
  });
});

test('does not report a misuse of the library', async () => {
  const { outcomes, verifier } = world();
  await expect(verifier.verify({} as never)).rejects.toThrow(TypeError);
  expect(() => verifier.begin({ method: 'POST', rawHeaders: [] } as never)).toThrow(TypeError);
  expect(outcomes).toEqual([]);
});

test('onOutcome gets the error with its cause, and facts about the request without its values', async () => {
  const cause = new Error('no such host');
  const reports: ProofReport[] = [];
  const { verifier, request } = world({
    replay: { spend: () => Promise.reject(cause) },
    onOutcome: (report) => void reports.push(report),
  });
  const signed = request();
  await verifier.verify({ ...signed, target: '/api/invoke' }).catch(() => undefined);
  expect(reports).toMatchObject([
    {
      outcome: 'replay_store_unavailable',
      error: { cause },
      request: {
        method: 'POST',
        path: '/api/invoke',
        proofHeaders: signed.rawHeaders.filter((text) => text.startsWith('x-ori-')),
      },
    },
  ]);
  const told = JSON.stringify(reports[0]?.request);
  for (const value of signed.rawHeaders.filter((_, index) => index % 2 === 1))
    expect(told).not.toContain(value);
});

test('onOutcome gets the names of headers, never a value that looks like one', async () => {
  const reports: ProofReport[] = [];
  const { verifier, request } = world({ onOutcome: (report) => void reports.push(report) });
  await verifier
    .verify({ ...request(), rawHeaders: ['Referer', 'x-ori-invoke-user'] })
    .catch(() => undefined);
  expect(reports.map(({ request }) => request.proofHeaders)).toEqual([[]]);
});

test('onOutcome gets no path that could forge a log line', async () => {
  const reports: ProofReport[] = [];
  const { verifier, request } = world({ onOutcome: (report) => void reports.push(report) });
  for (const target of ['/a\n', '/a?token=canary', `/${'x'.repeat(3000)}`]) {
    await verifier.verify({ ...request(), target }).catch(() => undefined);
  }
  expect(reports.map(({ request }) => request.path)).toEqual([undefined, '/a', undefined]);
});

describe('a warning', () => {
  const warnings = async () => {
    await new Promise(setImmediate); // those of other tests
    const seen = vi.fn<(warning: Error & { code?: string }) => void>();
    process.on('warning', seen);
    onTestFinished(() => void process.off('warning', seen));
    // A process warning is emitted on a later tick.
    const of = async () => {
      await new Promise(setImmediate);
      return seen.mock.calls.map(([{ name, code, message }]) => ({ name, code, message }));
    };
    return of;
  };

  test('warns the operator why the store fails, once a minute instead of for each request', async () => {
    const cause = new Error('connect ECONNREFUSED\n127.0.0.1:6379');
    const told = await warnings();
    const { verifier, request } = world({
      replay: { spend: () => Promise.reject(cause) },
      onOutcome: undefined,
    });
    const now = performance.now.bind(performance);
    let aheadMs = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
    onTestFinished(() => clock.mockRestore());
    const fail = () => verifier.verify(request()).catch(() => undefined);
    for (let n = 0; n < 10; n += 1) await fail();
    aheadMs = 50_000;
    await fail();
    expect(await told()).toEqual([
      {
        name: 'OriVerifierWarning',
        code: 'replay_store_unavailable',
        message: expect.stringContaining('connect ECONNREFUSED 127.0.0.1:6379'),
      },
    ]);
    aheadMs = 60_000;
    await fail();
    expect(await told()).toHaveLength(2);
  });

  test.each(['onOutcome', 'onAccepted'])('tells why %s threw, which changes no verdict', async (name) => {
    const told = await warnings();
    const { verifier, request } = world({
      [name]() {
        throw new Error('no metrics today');
      },
    });
    const signed = request();
    await expect(verifier.verify(signed)).resolves.toMatchObject({ user: 'user_2abc' });
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
    expect(await told()).toMatchObject([
      { code: 'internal_error', message: expect.stringContaining('no metrics today') },
    ]);
  });

  test('is not caused by anything that a stranger can send', async () => {
    const told = await warnings();
    const { verifier, request } = world({ onOutcome: undefined });
    const signed = request();
    await verifier.verify({ ...signed, rawHeaders: [] }).catch(() => undefined);
    await verifier.verify({ ...signed, target: '/other' }).catch(() => undefined);
    await verifier.verify(signed);
    await verifier.verify(signed).catch(() => undefined);
    expect(await told()).toEqual([]);
  });
});

test('every outcome is listed, to initialize a counter', () => {
  expect(PROOF_OUTCOMES).toContain('accepted');
  expect(PROOF_OUTCOMES).toContain('nonce_replayed');
  expect(PROOF_OUTCOMES).toContain('replay_store_unsafe');
  expect(new Set(PROOF_OUTCOMES).size).toBe(PROOF_OUTCOMES.length);
});

describe('onAccepted gets the SHA-256 of the signing input', () => {
  test.each([1, 2] as const)(
    'of an accepted version %i proof, and is not called for a refusal',
    async (version) => {
      const accepted: [number, string][] = [];
      const { verifier, request } = world({
        acceptV1: true,
        onAccepted: (proof, sha256) => void accepted.push([proof.version, sha256]),
      });
      const signed = request();
      const isV2 = (name = '') => /-(v2|nonce)$/.test(name);
      const rawHeaders = signed.rawHeaders.filter((_, at, all) => version === 2 || !isV2(all[at - (at % 2)]));
      await verifier.verify({ ...signed, rawHeaders });
      await expect(verifier.verify({ ...signed, rawHeaders })).rejects.toMatchObject({
        code: 'nonce_replayed',
      });
      const { timestamp, user, v2 } = parseProofHeaders(signed.rawHeaders);
      const named = { internId: 'int_7Qm2', timestamp, user, bodySha256: bodySha256(Buffer.from('{}')) };
      const input =
        version === 1
          ? signingInputV1(named)
          : signingInputV2({ ...named, nonce: v2?.nonce ?? '', method: 'POST', path: '/api/invoke' });
      expect(accepted).toEqual([[version, bodySha256(input)]]);
    },
  );
});
