import { execFileSync, type StdioOptions } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKeyServer } from '../../conformance/daemon/key-server.ts';
import { runSuite, startedBy } from '../../conformance/daemon/suite.ts';
import { startDriver } from '../../conformance/driver.ts';
import { ask, type Question } from '../../conformance/judge.ts';
import { exchangesOf } from '../../conformance/protocol.ts';
import { TRIALS } from '../../conformance/races.ts';
import { SCENARIOS } from '../../vectors/read.ts';

// node test/lab/sentences/main.ts [TEXT]: breaks each sentence of SPEC.md in our own verifiers, as a row of table.tsv says, and writes
// the vector that accuses it into its last column. Fails for a mutant that survives where none is said to, for the reason that follows.
// The wrong daemons: MUTANTS=all vitest run …/wrong-answers.test.ts.

/** A sentence, a file of our own verifier (Python's, or TypeScript's), and the text in it that breaks the sentence. */
type Mutant = readonly [sentence: string, file: string, from: string, to: string];

const ROOT = join(import.meta.dirname, '../../..');
const TABLE = join(import.meta.dirname, 'table.tsv');
const SURVIVES = 'SURVIVES: ';
const PORTS = 'test/wings/ports/python';
const CLIENT = 'services/ori/';

const QUESTIONS: (Question & { readonly sentences: readonly string[] })[] = [
  ...SCENARIOS.map((scenario) => ({ ...scenario, exchanges: exchangesOf(scenario) })),
  ...TRIALS.map((trial) => ({ ...trial, sentences: [] })),
];

/** A copy of both verifiers, whose packages import one another and not those of the checkout. */
async function copy(): Promise<string> {
  const tree = await mkdtemp(join(tmpdir(), 'ori-mutant-'));
  for (const folder of [
    'libs/public',
    'services/ori',
    'test/conformance',
    'test/vectors',
    'test/lab/sentences',
    'test/wings/ports',
    'test/wings/lost-answers/conformance',
  ])
    await cp(join(ROOT, folder), join(tree, folder), { recursive: true });
  const modules = join(tree, 'node_modules');
  await mkdir(join(modules, '@ori'), { recursive: true });
  for (const name of await readdir(join(ROOT, 'node_modules')))
    if (name !== '@ori' && !name.startsWith('.'))
      await symlink(join(ROOT, 'node_modules', name), join(modules, name));
  for (const name of await readdir(join(ROOT, 'node_modules/@ori'))) {
    const own = ['proof', 'verifier', 'remote-json'].includes(name);
    await symlink(
      join(own ? join(tree, 'libs/public') : join(ROOT, 'node_modules/@ori'), name),
      join(modules, '@ori', name),
    );
  }
  return tree;
}

/** The title of the first vector that accuses the program, those of the sentence first; undefined if none does. */
async function killerOf(tree: string, [sentence, file]: Mutant): Promise<string | undefined> {
  if (file.startsWith(CLIENT)) return said(tree, 'client-answers.ts');
  if (sentence.startsWith('P')) return killerOfProof(tree, sentence);
  const command = file.startsWith('python/')
    ? ['python3', join(tree, PORTS, 'conform.py')]
    : [process.execPath, join(tree, 'test/conformance/serve.ts')];
  const own = QUESTIONS.filter(({ sentences }) => sentences.includes(sentence));
  await using driver = startDriver(command, 'ignore');
  try {
    const { features = [] } = await driver.ask({ do: 'hello' });
    for (const question of [...own, ...QUESTIONS]) {
      const { needs = [] } = question as { needs?: readonly string[] };
      if (!needs.every((need) => features.includes(need))) continue;
      const { differences } = await ask(driver, question);
      if (differences.length > 0) return question.title;
    }
  } catch (error) {
    return `the program ended: ${String(error).slice(0, 60)}`;
  }
  return undefined;
}

function said(tree: string, judge: string, ...args: string[]): string | undefined {
  const path = join(tree, 'test/lab/sentences', judge);
  const stdio: StdioOptions = ['ignore', 'pipe', 'ignore'];
  return execFileSync(process.execPath, [path, ...args], { encoding: 'utf8', stdio }) || undefined;
}

/** The same for what proves answers: the first vector, or check of a daemon. */
async function killerOfProof(tree: string, sentence: string): Promise<string | undefined> {
  const accused = said(tree, 'answer-vectors.ts', sentence);
  if (accused !== undefined) return accused;
  await using keyServer = await startKeyServer();
  const daemon = join(tree, 'test/wings/lost-answers/conformance/wrong-answers.mjs');
  const daemons = startedBy([process.execPath, daemon, 'right', '{intern}', '{jwks}'], keyServer, 'ignore');
  const leftOut = ['slow', 'key sets', 'requests', 'races'] as const;
  const options = { path: '/api/invoke', bodyBytesMax: 100_000, isFetch: false, proofs: true, leftOut };
  // The checks of the sentence first.
  for (const only of [`${sentence} `, undefined]) {
    const outcomes = await runSuite(daemons, { ...options, only }, () => {});
    const wrong = outcomes.find(
      ({ sentence: id, difference }) => id.startsWith('P') && difference !== undefined,
    );
    if (wrong !== undefined) return wrong.title;
  }
  return undefined;
}

const [only = ''] = process.argv.slice(2);
const [head = '', ...mutants] = (await readFile(TABLE, 'utf8')).trimEnd().split('\n');
const rows: string[] = [];
let failures = 0;
const tree = await copy();
try {
  for (const mutant of mutants) {
    if (!mutant.includes(only)) continue;
    const [sentence = '', file = '', written = '', broken = '', known = ''] = mutant.split('\t');
    const [from, to] = [JSON.parse(written), JSON.parse(broken)];
    const path = join(tree, file.startsWith(CLIENT) ? '' : 'libs/public', file);
    const text = await readFile(path, 'utf8');
    if (text.split(from).length < 2) throw new Error(`${file} has no ${from}`);
    await writeFile(
      path,
      text.replace(from, () => to),
    );
    const killer = await killerOf(tree, [sentence, file, from, to]);
    await writeFile(path, text);
    const isExpected = known.startsWith(SURVIVES);
    if (killer === undefined && !isExpected) failures += 1;
    const verdict = killer ?? (isExpected ? known : 'SURVIVES without a reason');
    const row = [sentence, file, written, broken, verdict].join('\t');
    rows.push(row);
    if (killer === undefined || only !== '') console.log(row);
  }
} finally {
  await rm(tree, { recursive: true });
}
if (only === '') await writeFile(TABLE, `${[head, ...rows].join('\n')}\n`);
const sentences = new Set(rows.map((row) => row.split('\t')[0]));
console.log(`${rows.length} mutants of ${sentences.size} sentences, ${failures} survive without a reason`);
process.exitCode = failures === 0 ? 0 : 1;
