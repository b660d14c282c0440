import { parseStrictJson } from '@ori/http/strict-json';
import { ByokUpdate } from '@ori/store/byok/credential';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KeySelection } from '../../../services/management/src/assignments/shape.ts';
import { GuardrailCreate } from '../../../services/management/src/guardrails/shape.ts';
import { requireBody } from '../../../services/management/src/http/read-call.ts';
import { readRequest } from '../../../services/signer/src/core/stages/read-request.ts';
import type { Grant } from '../../../services/signer/src/core/stages/require-scope.ts';
import { contentOf } from '../../../services/signer/src/core/stages/stages.fixture.ts';

const BODIES = 2000;
/** Twice the limit for two idle cores. */
const LOOP_MS_MAX = 40;
const REPEATS = 7;

const sizes = fc.oneof({ weight: 9, arbitrary: fc.nat(30_000) }, { weight: 1, arbitrary: fc.nat(1_048_576) });

/** Bodies of a given size, made by repeating a pattern. */
const shapes: readonly ((size: number) => string)[] = [
  (size) => '['.repeat(size),
  (size) => `${'['.repeat(size / 2)}${']'.repeat(size / 2)}`,
  (size) => '{"a":'.repeat(size / 5),
  (size) => `{"name":"x","allowed_models":[${'1,'.repeat(size / 2)}1]}`,
  (size) => `{"name":"x","allowed_models":[${'"",'.repeat(size / 3)}""]}`,
  (size) => `{"name":"x","content_filters":[${'{},'.repeat(size / 3)}{}]}`,
  (size) => `{${Array.from({ length: size / 12 }, (_, at) => `"m${at}":0`).join()}}`,
  (size) => `{"name":"${'\\u0000'.repeat(size / 6)}"}`,
  (size) => `{"name":"${'\\ud83d'.repeat(size / 6)}"}`,
  (size) => `{"bodySha256":"${'a'.repeat(size)}"}`,
  (size) => `${' \n'.repeat(size / 2)}{"bodySha256":"x"}`,
  (size) => `{"route":{"path":"/${'\\\\"'.repeat(size / 3)}"}}`,
  (size) => '"'.repeat(size),
  (size) => '\\'.repeat(size),
  (size) => '9'.repeat(size),
  (size) => '[1e9,'.repeat(size / 5),
];

const LIMITS = { lengthMax: 512 * 1024, depthMax: 16, valuesMax: 5000 };

/** The readers of bodies. */
const READERS: readonly ((bytes: Buffer) => unknown)[] = [
  (bytes) => readRequest({} as Grant, contentOf(bytes)),
  (bytes) => requireBody(GuardrailCreate, parseStrictJson(bytes, LIMITS)),
  (bytes) => requireBody(ByokUpdate, parseStrictJson(bytes, LIMITS)),
  (bytes) => requireBody(KeySelection, parseStrictJson(bytes, LIMITS)),
];

/** The longest time that a body blocks the event loop, on any route. */
function heldMs(text: string): number {
  const bytes = Buffer.from(text).subarray(0, 1_048_576);
  let longest = 0;
  for (const read of READERS) {
    const before = performance.now();
    try {
      read(bytes);
    } catch {
      // Refused, like nearly all of them.
    }
    longest = Math.max(longest, performance.now() - before);
  }
  return longest;
}

test(`none of ${BODIES} hostile bodies blocks the event loop for long`, { timeout: 300_000 }, () => {
  let longest = { ms: 0, text: '' };
  // The first runs include compilation.
  for (const shape of shapes) for (let round = 0; round < 20; round += 1) heldMs(shape(20_000));
  const corpus = fc.sample(fc.tuple(fc.constantFrom(...shapes), sizes), { numRuns: BODIES, seed: 14 });
  for (const [shape, size] of corpus) {
    const text = shape(size);
    let ms = heldMs(text);
    // Other processes interfere, so the cost of a body is its minimum over several runs.
    for (let again = 0; again < REPEATS && ms > longest.ms; again += 1) ms = Math.min(ms, heldMs(text));
    if (ms > longest.ms) longest = { ms, text: `${text.slice(0, 40)}… of ${text.length} characters` };
  }
  console.log(`event loop: ${BODIES} bodies, at most ${longest.ms.toFixed(1)} ms (${longest.text})`);
  expect(longest.ms, longest.text).toBeLessThan(LOOP_MS_MAX);
});
