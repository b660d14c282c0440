import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ANSWER_SENTENCES } from '../conformance/daemon/answers.ts';
import { CHECKS, SLOW_CHECKS } from '../conformance/daemon/checks.ts';
import { KEY_CHECKS } from '../conformance/daemon/key-checks.ts';
import { ELSEWHERE } from './elsewhere.ts';
import { coverageScenarios } from './generator/coverage.ts';
import { curveScenarios } from './generator/curve.ts';
import { fieldScenarios } from './generator/fields.ts';
import { headerScenarios } from './generator/headers.ts';
import { keySetScenarios } from './generator/key-sets.ts';
import { keyScenarios } from './generator/keys.ts';
import { orderScenarios } from './generator/order.ts';
import { replayScenarios } from './generator/replays.ts';
import { requestScenarios } from './generator/requests.ts';
import { rootedSetVectors } from './generator/rooted-sets.ts';
import { render, type Scenario } from './generator/scenario.ts';
import { signingVectors } from './generator/signing.ts';
import { storeScenarios } from './generator/stores.ts';
import { timeScenarios } from './generator/times.ts';
import { versionScenarios } from './generator/versions.ts';
import { sentencesOfSpec } from './sentences.ts';

/** The format number. It changes if an existing reader would misread the files. */
const FORMAT = 2;

export const SCENARIOS: readonly Scenario[] = [
  ...headerScenarios,
  ...fieldScenarios,
  ...versionScenarios,
  ...requestScenarios,
  ...timeScenarios,
  ...keyScenarios,
  ...keySetScenarios,
  ...curveScenarios,
  ...coverageScenarios,
  ...orderScenarios,
  ...replayScenarios,
  ...storeScenarios,
];

/** The generated files of this folder: file name -> text. */
export function vectorFiles(): Map<string, string> {
  const files = new Map([
    ['verdicts.json', lines('scenarios', SCENARIOS)],
    ['signing.json', lines('cases', signingVectors)],
    ['rooted-sets.json', lines('sets', rootedSetVectors)],
  ]);
  files.set('manifest.json', manifest(files));
  return files;
}

/** One JSON document with one vector per line, so that any parser reads it and diffs are line by line. */
function lines(name: string, vectors: readonly unknown[]): string {
  return `{"format":${FORMAT},"${name}":[\n${vectors.map(render).join(',\n')}\n]}\n`;
}

/** What the suite checks of a running daemon, by sentence. */
export const DAEMON_CHECKS: readonly { sentence: string; title: string }[] = [
  ...CHECKS,
  ...SLOW_CHECKS,
  ...KEY_CHECKS,
  ...ANSWER_SENTENCES.map((sentence) => ({ sentence, title: 'answers every refusal as required' })),
];

/** The contents of the files, and what shows each sentence: vectors, checks of a daemon, or why only a test of the product does. */
function manifest(files: ReadonlyMap<string, string>): string {
  const showing = (id: string, vectors: readonly { title: string; sentences: string[] }[]): string[] =>
    vectors.filter(({ sentences }) => sentences.includes(id)).map(({ title }) => title);
  const contents = [...files].map(([name, text]) => [
    name,
    { vectors: text.split('\n').length - 3, sha256: createHash('sha256').update(text).digest('hex') },
  ]);
  const shown = [...sentencesOfSpec().keys()].map((id) => [
    id,
    {
      verdicts: showing(id, SCENARIOS),
      signing: showing(id, signingVectors),
      rootedSets: showing(id, rootedSetVectors),
      daemon: DAEMON_CHECKS.filter(({ sentence }) => sentence === id).map(({ title }) => title),
      productOnly: ELSEWHERE[id],
    },
  ]);
  const whole = {
    format: FORMAT,
    files: Object.fromEntries(contents),
    sentences: Object.fromEntries(shown),
  };
  return `${JSON.stringify(whole, undefined, 1)}\n`;
}

if (import.meta.main) {
  const folder = process.argv[2] ?? import.meta.dirname;
  for (const [name, text] of vectorFiles()) writeFileSync(join(folder, name), text);
  console.log(
    `${SCENARIOS.length} verdicts, ${signingVectors.length} signing cases, ${rootedSetVectors.length} rooted sets`,
  );
}
