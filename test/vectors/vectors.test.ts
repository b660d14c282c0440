import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { REFUSAL_CODES } from '../../libs/public/verifier/src/refusal.ts';
import { ELSEWHERE } from './elsewhere.ts';
import { DAEMON_CHECKS, renderManifest } from './manifest.ts';
import { ANSWER_VECTORS, ROOTED_SETS, SCENARIOS, SIGNING_VECTORS, textOf } from './read.ts';
import { sentencesOfSpec } from './sentences.ts';

const SENTENCES = sentencesOfSpec();
const steps = SCENARIOS.flatMap((scenario) => scenario.steps);
const shown = new Set(
  [...SCENARIOS, ...SIGNING_VECTORS, ...ROOTED_SETS, ...ANSWER_VECTORS].flatMap(({ sentences }) => sentences),
);

/** Ids cited as `SPEC.md K1, K2.` in a comment of any test or script of this repository. */
function citedInTests(): Set<string> {
  const listed = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts', 'test/e2e/scripts/*.txt'],
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
      .flatMap((text) => [...text.matchAll(/^\s*(?:\/\/|#) SPEC\.md ([A-Z]\d+(?:, [A-Z]\d+)*)\.$/gm)])
      .flatMap(([, ids = '']) => ids.split(', ')),
  );
}

test('the manifest is that of the vectors', () => {
  expect(textOf('manifest.json') === renderManifest(), 'npm run vectors').toBe(true);
});

const checked = new Set(DAEMON_CHECKS.map(({ sentence }) => sentence));

test.each([...SENTENCES.keys()])(
  '%s is shown by a vector, a check of a daemon, or a test and a reason',
  (id) => {
    const isShown = shown.has(id) || checked.has(id);
    expect(isShown || CITED.has(id), SENTENCES.get(id)).toBe(true);
    expect(id in ELSEWHERE, 'elsewhere.ts').toBe(!isShown);
  },
);
const CITED = citedInTests();

test('vectors, checks and tests cite only sentences that exist', () => {
  for (const id of [...shown, ...checked, ...CITED, ...Object.keys(ELSEWHERE)])
    expect(SENTENCES.has(id), id).toBe(true);
});

/** Codes that depend on a size limit, on unavailable keys, or on the state of a shared replay store. */
const BEYOND_REQUESTS: ReadonlySet<string> = new Set([
  'body_too_large',
  'keys_unavailable',
  'nonce_not_issued',
  'replay_store_unavailable',
  'replay_store_unsafe',
]);

/** What questions are told (REPLAY-STORES.md, N16 to N20). */
const TO_QUESTIONS = ['kept', 'call_running', 'answer_lost', 'answer_too_large', 'call_not_received'];

test('the vectors produce every code that a request alone can cause', () => {
  const provoked = REFUSAL_CODES.filter((code) => !BEYOND_REQUESTS.has(code));
  expect(new Set(steps.map(({ expect: verdict }) => verdict))).toEqual(
    new Set(['continue', 'done', 'ok', 'refused', ...provoked, ...TO_QUESTIONS]),
  );
});

test('no two vectors have the same title or the same request', () => {
  const all = [...SCENARIOS, ...SIGNING_VECTORS, ...ROOTED_SETS, ...ANSWER_VECTORS];
  expect(new Set(all.map(({ title }) => title)).size).toBe(all.length);
  const questions = all.map(({ title, sentences, ...question }) => JSON.stringify(question));
  expect(new Set(questions).size).toBe(all.length);
});
