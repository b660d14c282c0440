import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { SCENARIOS, VECTORS_FOLDER, vectorFiles } from './generate.ts';

const verdicts = SCENARIOS.flatMap(({ steps }) => steps.map((step) => step.expect));

test('the vectors on disk are the ones the generator makes, to the byte', () => {
  const made = vectorFiles();
  expect(readdirSync(VECTORS_FOLDER).toSorted()).toEqual([...made.keys()].toSorted());
  for (const [name, text] of made) expect(readFileSync(join(VECTORS_FOLDER, name), 'utf8'), name).toBe(text);
});

test('there are at least 80 vectors and most are refusals', () => {
  expect(SCENARIOS.length).toBeGreaterThanOrEqual(80);
  expect(verdicts.filter((verdict) => verdict !== 'ok').length).toBeGreaterThan(verdicts.length / 2);
});

test('every code that a request alone can provoke is among them', () => {
  expect([...new Set(verdicts)].toSorted()).toEqual([
    'key_unknown',
    'nonce_replayed',
    'ok',
    'proof_before_fence',
    'proof_expired',
    'proof_malformed',
    'proof_missing',
    'proof_not_yet_valid',
    'proof_version_not_accepted',
    'request_not_coverable',
    'signature_invalid',
  ]);
});

test('the clock of a scenario never goes back', () => {
  for (const { title, steps } of SCENARIOS) {
    const times = steps.map((step) => step.now);
    expect(times, title).toEqual(times.toSorted((a, b) => a - b));
  }
});
