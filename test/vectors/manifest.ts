import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKS, RACE_CHECKS, SLOW_CHECKS } from '../conformance/daemon/checks.ts';
import { KEY_CHECKS } from '../conformance/daemon/key-checks.ts';
import { PROOF_CHECKS } from '../conformance/daemon/proof-checks.ts';
import { ANSWER_CHECKS, QUESTION_CHECKS } from '../wings/lost-answers/conformance/answer-checks.ts';
import { ANSWER_SENTENCES } from '../wings/lost-answers/conformance/answers.ts';
import { ELSEWHERE } from './elsewhere.ts';
import { ANSWER_VECTORS, ROOTED_SETS, SCENARIOS, SIGNING_VECTORS, textOf } from './read.ts';
import { sentencesOfSpec } from './sentences.ts';

/** What the suite checks of a running daemon, by sentence. */
export const DAEMON_CHECKS: readonly { sentence: string; title: string }[] = [
  ...CHECKS,
  ...SLOW_CHECKS,
  ...RACE_CHECKS,
  ...KEY_CHECKS,
  ...QUESTION_CHECKS,
  ...ANSWER_CHECKS,
  ...PROOF_CHECKS,
  ...ANSWER_SENTENCES.map((sentence) => ({ sentence, title: 'answers every refusal as required' })),
];

/** The contents of the files, and what shows each sentence: vectors, checks of a daemon, or why only a test of the product does. */
export function renderManifest(): string {
  const showing = (id: string, vectors: readonly { title: string; sentences: string[] }[]): string[] =>
    vectors.filter(({ sentences }) => sentences.includes(id)).map(({ title }) => title);
  const contents = ['verdicts.json', 'signing.json', 'rooted-sets.json', 'answer-proofs.json'].map((name) => {
    const text = textOf(name);
    const sha256 = createHash('sha256').update(text).digest('hex');
    return [name, { vectors: text.split('\n').length - 3, sha256 }];
  });
  const shown = [...sentencesOfSpec().keys()].map((id) => [
    id,
    {
      verdicts: showing(id, SCENARIOS),
      signing: showing(id, SIGNING_VECTORS),
      rootedSets: showing(id, ROOTED_SETS),
      answers: showing(id, ANSWER_VECTORS),
      daemon: DAEMON_CHECKS.filter(({ sentence }) => sentence === id).map(({ title }) => title),
      productOnly: ELSEWHERE[id],
    },
  ]);
  const { format } = JSON.parse(textOf('verdicts.json')) as { format: number };
  const whole = { format, files: Object.fromEntries(contents), sentences: Object.fromEntries(shown) };
  return `${JSON.stringify(whole, undefined, 1)}\n`;
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, 'manifest.json'), renderManifest());
