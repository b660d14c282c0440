import { execFileSync } from 'node:child_process';
import { createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { REFUSAL_CODES } from '../../libs/public/verifier/src/refusal.ts';
import { SCENARIOS, vectorFiles } from './generate.ts';
import { rootedSetVectors } from './generator/rooted-sets.ts';
import { render } from './generator/scenario.ts';
import { signingVectors } from './generator/signing.ts';
import { version3Vectors } from './generator/version-3.ts';
import { sentencesOfSpec } from './sentences.ts';

const SENTENCES = sentencesOfSpec();
const steps = SCENARIOS.flatMap((scenario) => scenario.steps);
const shown = new Set(
  [...SCENARIOS, ...signingVectors, ...rootedSetVectors].flatMap(({ sentences }) => sentences),
);

/** Ids cited as `SPEC.md K1, K2.` in a comment of any test of this repository. */
function citedInTests(): Set<string> {
  const listed = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts'],
    {
      encoding: 'utf8',
    },
  );
  const texts = listed
    .trim()
    .split('\n')
    .map((file) => readFileSync(file, { encoding: 'utf8', flag: 'a+' }));
  return new Set(
    texts
      .flatMap((text) => [...text.matchAll(/^\s*\/\/ SPEC\.md ([A-Z]\d+(?:, [A-Z]\d+)*)\.$/gm)])
      .flatMap(([, ids = '']) => ids.split(', ')),
  );
}

test('the vectors on disk equal the generator’s output, byte for byte', () => {
  const made = vectorFiles();
  const onDisk = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.json'));
  expect(onDisk.toSorted()).toEqual([...made.keys()].toSorted());
  for (const [name, text] of made) {
    expect(readFileSync(join(import.meta.dirname, name), 'utf8') === text, name).toBe(true);
  }
});

test.each([...SENTENCES.keys()])('sentence %s of SPEC.md is covered by a vector or cited by a test', (id) => {
  expect(shown.has(id) || CITED.has(id), SENTENCES.get(id)).toBe(true);
});
const CITED = citedInTests();

test('vectors and tests cite only sentences that exist in SPEC.md', () => {
  for (const id of [...shown, ...CITED]) expect(SENTENCES.has(id), id).toBe(true);
});

/** Codes that depend on a size limit, on unavailable keys, or on the state of a replay store. */
const BEYOND_REQUESTS: ReadonlySet<string> = new Set([
  'body_too_large',
  'keys_unavailable',
  'nonce_not_issued',
  'replay_store_full',
  'replay_store_unavailable',
  'replay_store_unsafe',
]);

test('the vectors produce every code that a request alone can cause', () => {
  const provoked = REFUSAL_CODES.filter((code) => !BEYOND_REQUESTS.has(code));
  expect(new Set(steps.map(({ expect: verdict }) => verdict))).toEqual(
    new Set(['continue', 'done', 'ok', 'refused', ...provoked]),
  );
});

test.each(version3Vectors)('a second engine judges the draft version 3 alike: $title', (vector) => {
  const { jwk, signingInput, signature, expect: expected } = vector;
  const input = Buffer.from(signingInput, 'latin1');
  const bytes = Buffer.from(signature, 'base64');
  const keyOf = (key: JsonWebKey) => createPublicKey({ key, format: 'jwk' });
  const first = keyOf({ kty: 'OKP', crv: 'Ed25519', x: String(jwk['ed25519']) });
  const isGood =
    bytes.length === 2484 &&
    verify(null, input, first, bytes.subarray(0, 64)) &&
    verify(null, input, keyOf(jwk), bytes.subarray(64));
  expect(isGood ? 'ok' : 'refused').toBe(expected);
});

test('the draft version 3 has the sizes that SPEC.md gives', () => {
  const [{ jwk, signature } = expect.fail()] = version3Vectors;
  const bytes = (text: unknown) => Buffer.from(String(text), 'base64url').length;
  const sizes = [bytes(signature), signature.length, bytes(jwk['pub']) + bytes(jwk['ed25519'])];
  const spec = readFileSync(new URL('../../libs/public/proof/SPEC.md', import.meta.url), 'utf8');
  const rows = spec.slice(spec.indexOf('## Appendix A')).matchAll(/^\| [^|]+ \| \d+ \| (\d+) \|$/gm);
  expect([...rows].map(([, size]) => Number(size))).toEqual(sizes);
});

test('no two vectors have the same title or the same request', () => {
  const all = [...SCENARIOS, ...signingVectors, ...rootedSetVectors];
  expect(new Set(all.map(({ title }) => title)).size).toBe(all.length);
  const questions = all.map(({ title, sentences, ...question }) => render(question));
  expect(new Set(questions).size).toBe(all.length);
});
