import { readdirSync, readFileSync } from 'node:fs';
import { type JwkSet, ProofError, parseJwkSet, UnavailableError } from '@ori/proof';
import { describe, expect, test } from 'vitest';
import { memoryReplayStore } from './replay/memory/store.ts';
import { createVerifier, type VerifiedProof, type Verifier } from './verifier.ts';

/** One scenario: see test/vectors/README.md. */
interface Vector {
  readonly title: string;
  readonly verifier: {
    readonly internId: string;
    readonly maxAgeSeconds: number;
    readonly clockToleranceSeconds: number;
    readonly acceptV1: boolean;
    readonly contentType: string;
  };
  readonly replayStoreSince: number;
  readonly jwks: JwkSet;
  readonly steps: readonly Step[];
}

interface Step {
  readonly now: number;
  readonly method: string;
  readonly target: string;
  readonly rawHeaders: readonly string[];
  readonly bodyBase64: string;
  readonly expect: string;
  readonly proof?: object;
}

const FOLDER = new URL('../../../test/vectors/proofs/', import.meta.url);
const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

/** A verifier as the vector wants it, and its clock. */
function worldOf({ verifier: options, replayStoreSince, jwks }: Vector) {
  const clock = { ms: replayStoreSince * 1000 };
  const now = (): number => clock.ms;
  const keys = parseJwkSet(jwks);
  const replay = memoryReplayStore({ now });
  return { clock, verifier: createVerifier({ ...options, keys: { current: () => keys }, replay, now }) };
}

const whole = (verifier: Verifier, step: Step): Promise<VerifiedProof> =>
  verifier.verify({ ...step, body: Buffer.from(step.bodyBase64, 'base64') });

const streamed = async (verifier: Verifier, step: Step): Promise<VerifiedProof> => {
  const open = verifier.begin(step);
  for (const byte of Buffer.from(step.bodyBase64, 'base64')) open.update(Uint8Array.of(byte));
  return open.finish();
};

async function verdictOf(answer: Promise<VerifiedProof>): Promise<{ expect: unknown; proof?: object }> {
  try {
    const proof = await answer;
    return { expect: 'ok', proof: { ...proof, issuedAt: proof.issuedAt.getTime() / 1000 } };
  } catch (error) {
    if (error instanceof ProofError || error instanceof UnavailableError) return { expect: error.code };
    throw error;
  }
}

test('there are vectors', () => {
  expect(FILES.length).toBeGreaterThan(0);
});

describe.each([
  ['whole', whole],
  ['streamed', streamed],
])('%s', (_name, judge) => {
  test.each(FILES)('%s', async (file) => {
    const vector: Vector = JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'));
    const { clock, verifier } = worldOf(vector);
    for (const step of vector.steps) {
      clock.ms = step.now * 1000;
      const expected =
        step.proof === undefined ? { expect: step.expect } : { expect: step.expect, proof: step.proof };
      expect(await verdictOf(judge(verifier, step)), vector.title).toEqual(expected);
    }
  });
});
