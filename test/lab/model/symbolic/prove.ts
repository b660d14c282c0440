import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { QUERIES, type Query, type Scenario } from './scenarios.ts';

const run = promisify(execFile);
const SOURCE = new URL('./protocol.pv', import.meta.url);
const MARK = /\(\*\? (!?)(\w+) \*\)$/;

/** The verdict on each query: ProVerif may also find neither a proof nor an attack. */
export type Verdicts = Readonly<Record<Query, 'holds' | 'refuted' | 'unknown'>>;

export async function hasProVerif(): Promise<boolean> {
  // It has no option that only prints its version.
  return run('proverif', ['--help']).then(
    () => true,
    (error: { code?: unknown }) => error.code !== 'ENOENT',
  );
}

/**
 * The model of a scenario, with changes.
 *
 * @throws Error for a change whose text does not occur exactly once
 */
export async function modelOf(
  { marks }: Scenario,
  change: Readonly<Record<string, string>> = {},
): Promise<string> {
  const lines = (await readFile(SOURCE, 'utf8')).split('\n').flatMap((line) => {
    const [mark, negation, name = ''] = MARK.exec(line) ?? [];
    if (mark === undefined) return line;
    return marks.has(name) === (negation === '') ? line.slice(0, -mark.length).trimEnd() : [];
  });
  let text = lines.join('\n');
  for (const [before, after] of Object.entries(change)) {
    const count = text.split(before).length - 1;
    if (count !== 1) throw new Error(`occurs ${count} times: ${before}`);
    text = text.replace(before, () => after);
  }
  return text;
}

/** Runs ProVerif on a model. @throws Error for a model that it does not understand */
export async function prove(model: string): Promise<Verdicts> {
  const folder = await mkdtemp(join(tmpdir(), 'ori-model-'));
  try {
    const file = join(folder, 'model.pv');
    await writeFile(file, model);
    const { stdout } = await run('proverif', [file], { timeout: 300_000, maxBuffer: 64 * 1024 * 1024 });
    const results = stdout.match(/^RESULT [^(].*$/gm) ?? [];
    if (results.length !== QUERIES.length)
      throw new Error(`${results.length} results, expected ${QUERIES.length}`);
    return Object.fromEntries(
      QUERIES.map((query, index) => [query, verdictOf(results[index] ?? '')]),
    ) as Verdicts;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function verdictOf(result: string): Verdicts[Query] {
  if (result.endsWith(' is true.')) return 'holds';
  return result.endsWith(' is false.') ? 'refuted' : 'unknown';
}
