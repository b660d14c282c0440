import { existsSync, globSync, readFileSync } from 'node:fs';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Stryker } from '@stryker-mutator/core';
import { setup } from '../../env/global-setup.ts';
import { AREAS, type Area } from './areas.ts';
import { copyCheckout } from './copy.ts';
import { drawParts } from './sample.ts';

const USAGE = `npm run mutation -- [--again] [--quick] [--only TEXT] [--sample LINES [--seed TEXT]] [AREA...]
  AREA  ${Object.keys(AREAS).join(', ')}; all by default. test/README.md says what it does.`;
const ROOT = resolve(import.meta.dirname, '../../..');
/** Ends the names of results with slow tests. */
const SLOW = '-slow.json';
const RESULTS = join(ROOT, 'node_modules/.cache/ori-mutation');

/** Mutants that no test kills, each with the reason: the declaration, a part of its line, and what replaces the original. */
type Explanation = readonly [declaration: string, part: string, to: string, why: string];
const SURVIVORS = readFileSync(join(import.meta.dirname, 'survivors.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((row) => row.split('\t') as unknown as Explanation);

/** The beginning of a declaration of a module. */
const DECLARATION = /^(?:export )?(?:async )?(?:function\*?|const|let|class|interface|type) (?:\{ )?(\w+)/;

interface Survivor {
  readonly place: string;
  /** The declaration of the module that it changes. */
  readonly declaration: string | undefined;
  /** The lines that it changes: `FILE:FIRST-LAST`. */
  readonly part: string;
  readonly line: string;
  readonly replacement: string;
}

/** A mutant in Stryker's results. */
interface Kept {
  readonly static?: boolean;
  readonly status: string;
}

interface Outcome {
  /** Those that fail while a slow test is imported included. */
  readonly killed: number;
  /** Of those killed. On a busy machine they may have survived. */
  readonly timedOut: number;
  /** Of those killed, by slow tests alone: what a person who changes the code sees late. */
  readonly killedLate?: number;
  readonly survivors: readonly Survivor[];
}

const { options, areas } = readArguments();
await mkdir(RESULTS, { recursive: true });
const BACKENDS = 'MUTATION_BACKENDS';
/** A test that runs this has servers. */
const stop =
  process.env[BACKENDS] === undefined
    ? await setup({
        provide: (_, backends) => Object.assign(process.env, { [BACKENDS]: JSON.stringify(backends) }),
      })
    : async () => {};
process.exitCode = (await run()) ? 0 : 1;
await stop();

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        sample: { type: 'string' },
        seed: { type: 'string', default: new Date().toISOString() },
        again: { type: 'boolean', default: false },
        only: { type: 'string' },
        quick: { type: 'boolean', default: false },
      },
    });
    const unknown = positionals.find((name) => AREAS[name] === undefined);
    if (unknown !== undefined) throw new Error(`no such area: ${unknown}`);
    return { options: values, areas: positionals.length > 0 ? positionals : Object.keys(AREAS) };
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    process.exit(2);
  }
}

async function run(): Promise<boolean> {
  const results: (Outcome & { area: string })[] = [];
  for (const area of areas) {
    results.push({
      area,
      ...(await mutateArea(area)),
    });
  }
  return results.map(({ area, ...outcome }) => report(area, outcome)).every(Boolean);
}

async function mutateArea(area: string): Promise<Outcome> {
  const { only = '', sample: lines } = options;
  if (lines !== undefined) return await sample(area, Number(lines));
  const sources = sourcesOf(area).filter((file) => file.includes(only));
  const { tests, slowTests = [] } = areaOf(area);
  const [results, slowResults] = [join(RESULTS, `${area}.json`), join(RESULTS, `${area}${SLOW}`)];
  const outcome = await mutate(area, sources, tests, results);
  if (options.quick || outcome.survivors.every(isExplained) || slowTests.length === 0) return outcome;
  if (options.again || !existsSync(slowResults)) await copyFile(results, slowResults);
  const parts = new Set(outcome.survivors.filter((one) => !isExplained(one)).map(({ part }) => part));
  const slow = await mutate(area, [...parts], [...tests, ...slowTests], slowResults);
  const names = new Set(slow.survivors.map(nameOf));
  const survivors = outcome.survivors.filter((one) => isExplained(one) || names.has(nameOf(one)));
  const killedLate = outcome.survivors.length - survivors.length;
  const killed = outcome.killed + killedLate;
  return { killed, timedOut: outcome.timedOut + slow.timedOut, killedLate, survivors };
}

function nameOf({ place, replacement }: Survivor): string {
  return `${place} ${replacement}`;
}

async function sample(area: string, lines: number): Promise<Outcome> {
  const parts = drawParts(`${options.seed} ${area}`, lines, sourcesOf(area));
  console.log(`Seed ${options.seed}: ${parts.length} parts of ${area}.`);
  const { tests, slowTests = [] } = areaOf(area);
  return await mutate(area, parts, [...tests, ...slowTests]);
}

function areaOf(name: string): Area {
  const area = AREAS[name];
  if (area === undefined) throw new Error(`no such area: ${name}`);
  return area;
}

function sourcesOf(name: string): string[] {
  return areaOf(name)
    .sources.flatMap((source) =>
      source.endsWith('.ts') ? [source] : globSync(`${source}/**/*.ts`, { cwd: ROOT }),
    )
    .filter((file) => !/\.(?:test|fixture)\.ts$|queries\.ts$/.test(file))
    .sort();
}

/**
 * Mutates files or parts of files (`FILE:FIRST-LAST`) in a copy of the checkout. A result of an earlier run counts
 * while the mutant and the test that killed it stay as they are, and for a survivor while no test is new.
 */
async function mutate(
  area: string,
  parts: readonly string[],
  tests: readonly string[],
  results?: string,
): Promise<Outcome> {
  const isSlow = results?.endsWith(SLOW) ?? false;
  if (results !== undefined && existsSync(results)) await forgetStatic(results);
  using copy = await copyCheckout(ROOT);
  process.env['MUTATION_TEST_SECONDS'] = isSlow ? '20' : '6';
  process.env['MUTATION_TESTS'] = JSON.stringify(tests);
  process.chdir(copy.directory);
  try {
    const stryker = new Stryker({
      inPlace: true,
      mutate: [...parts],
      plugins: ['@stryker-mutator/vitest-runner', join(import.meta.dirname, 'descriptions.ts')],
      ignorers: ['descriptions'],
      testRunner: 'vitest',
      vitest: { configFile: 'test/lab/mutation/vitest.config.ts', related: false },
      coverageAnalysis: 'perTest',
      incremental: results !== undefined,
      incrementalFile: results,
      force: options.again && !isSlow,
      ignoreStatic: isSlow && !areaOf(area).isStaticTriedSlowly,
      // No test asserts the text of a message.
      mutator: { excludedMutations: ['StringLiteral'] },
      // More than two cores can do, as some of them wait for mutants that hang.
      concurrency: 3,
      // Vitest cancels a run after its first failure, and the cancellation can skip tests of the next run too.
      disableBail: true,
      timeoutMS: 10_000,
      tempDirName: join(copy.directory, '.stryker'),
      reporters: ['progress-append-only'],
      allowEmpty: true,
      logLevel: 'warn' as never,
    } as never);
    // The results of other files stay in the report.
    const files = parts.map((part) => join(copy.directory, part.replace(/:[\d-]+$/, '')));
    const mutants = (await stryker.runMutationTest()).filter(({ fileName }) => files.includes(fileName));
    const alive = mutants.filter(
      ({ status, statusReason = '' }) =>
        status === 'Survived' || status === 'NoCoverage' || statusReason.startsWith('Static mutant'),
    );
    return {
      killed: mutants.filter(({ status }) => status === 'Killed' || status === 'Timeout').length,
      timedOut: mutants.filter(
        ({ status, statusReason = '' }) => status === 'Timeout' || / timed out in \d/.test(statusReason),
      ).length,
      survivors: alive.map(({ fileName, location, replacement = '' }) => {
        const file = fileName.slice(copy.directory.length + 1);
        const lines = linesOf(file).slice(0, location.start.line);
        const line = lines.at(-1) ?? '';
        return {
          declaration: lines.flatMap(declared).at(-1),
          place: `${file}:${location.start.line}:${location.start.column}`,
          part: `${file}:${location.start.line}-${location.end.line}`,
          line,
          replacement,
        };
      }),
    };
  } finally {
    process.chdir(ROOT);
  }
}

function linesOf(file: string): string[] {
  return readFileSync(join(ROOT, file), 'utf8').split('\n');
}

function declared(line: string): string[] {
  return DECLARATION.exec(line)?.slice(1) ?? [];
}

/**
 * Removes the survivors in code that runs while it is imported. Stryker would keep them, whatever test is new, because it
 * counts no test as one that covers them.
 */
async function forgetStatic(results: string): Promise<void> {
  const report: { files: Record<string, { mutants: Kept[] }> } = JSON.parse(await readFile(results, 'utf8'));
  const isKept = ({ static: isStatic, status }: Kept) =>
    !isStatic || status === 'Killed' || status === 'Timeout';
  for (const file of Object.values(report.files)) file.mutants = file.mutants.filter(isKept);
  await writeFile(results, JSON.stringify(report));
}

function report(area: string, { killed, timedOut, killedLate = 0, survivors }: Outcome): boolean {
  const { mark } = areaOf(area);
  const alive = survivors.filter((survivor) => !isExplained(survivor));
  const share = killed + alive.length === 0 ? 100 : (100 * killed) / (killed + alive.length);
  console.log(
    `\n${area}: ${killed} killed (${timedOut} by timeout, ${killedLate} by slow tests alone), ${alive.length} alive, ${survivors.length - alive.length} explained`,
  );
  for (const { place, line, replacement } of alive) {
    console.log(
      `  ${place} ${line.trim().slice(0, 110)}\n    -> ${replacement.replaceAll(/\s+/g, ' ').slice(0, 110)}`,
    );
  }
  if (options.only === undefined && options.sample === undefined) reportUnused(area, survivors);
  console.log(`${area}: ${share.toFixed(1)} % (mark ${mark} %)`);
  return share >= mark;
}

function reportUnused(area: string, survivors: readonly Survivor[]): void {
  const here = new Set(sourcesOf(area).flatMap((file) => linesOf(file).flatMap(declared)));
  for (const explanation of SURVIVORS) {
    const [declaration, part] = explanation;
    if (here.has(declaration) && !survivors.some((survivor) => explains(explanation, survivor)))
      console.log(`  explains nothing: ${declaration} ${part}`);
  }
}

function isExplained(survivor: Survivor): boolean {
  return SURVIVORS.some((explanation) => explains(explanation, survivor));
}

function explains([name, part, to]: Explanation, { declaration, line, replacement }: Survivor): boolean {
  const isThere = (name === '*' || name === declaration) && line.includes(part);
  return isThere && (to === '*' || to === replacement.replaceAll('\n', '\\n'));
}
