import { UnavailableError } from '@ori/proof';
import { describe, expect, test } from 'vitest';
import { createLocalKeySet } from './keys/local.ts';
import { PROOF_OUTCOMES, type ProofOutcome } from './outcome.ts';
import type { VerifierOptions } from './policy.ts';
import { memoryReplayStore } from './replay/memory/store.ts';
import { createTestSigner } from './testing.ts';
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
    ...{ internId: 'int_7Qm2', keys: createLocalKeySet(signer.jwks), replay, now },
    onOutcome: (outcome) => void outcomes.push(outcome),
    ...options,
  });
  const request = () => signer.request({ path: '/api/invoke', body: '{}', user: 'user_2abc' });
  return { outcomes, verifier, request };
}

describe('onOutcome is told once', () => {
  test('of a proof that was accepted, and of its replay', async () => {
    const { outcomes, verifier, request } = world();
    const signed = request();
    await verifier.verify(signed);
    await verifier.verify(signed).catch(() => undefined);
    expect(outcomes).toEqual(['accepted', 'nonce_replayed']);
  });

  test('of a proof whose body streamed, when it is finished', async () => {
    const { outcomes, verifier, request } = world();
    const { body, ...head } = request();
    const open = verifier.begin(head);
    open.update(body);
    expect(outcomes).toEqual([]);
    await open.finish();
    expect(outcomes).toEqual(['accepted']);
  });

  test('of a streamed one that its headers already refuse', () => {
    const { outcomes, verifier, request } = world();
    expect(() => verifier.begin({ ...request(), rawHeaders: [] })).toThrow();
    expect(outcomes).toEqual(['proof_missing']);
  });

  test('of what could not be judged', async () => {
    const spend = () => Promise.reject(new UnavailableError('replay_store_unavailable', 'no answer'));
    const { outcomes, verifier, request } = world({ replay: { spend } });
    await verifier.verify(request()).catch(() => undefined);
    expect(outcomes).toEqual(['replay_store_unavailable']);
  });
});

test('a misuse of the library is no outcome', async () => {
  const { outcomes, verifier } = world();
  await expect(verifier.verify({} as never)).rejects.toThrow(TypeError);
  expect(outcomes).toEqual([]);
});

test('a listener that throws changes no verdict', async () => {
  const onOutcome = () => {
    throw new Error('no metrics today');
  };
  const { verifier, request } = world({ onOutcome });
  const signed = request();
  await expect(verifier.verify(signed)).resolves.toMatchObject({ user: 'user_2abc' });
  await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
});

test('every outcome is listed, so that its series can be there from the start', () => {
  expect(PROOF_OUTCOMES).toContain('accepted');
  expect(PROOF_OUTCOMES).toContain('nonce_replayed');
  expect(PROOF_OUTCOMES).toContain('replay_store_unsafe');
  expect(new Set(PROOF_OUTCOMES).size).toBe(PROOF_OUTCOMES.length);
});
