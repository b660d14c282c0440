import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import { EQUIVALENT } from './equivalent.ts';
import { HISTORICAL } from './historical.ts';
import { type Mutant, mutantsOf } from './operators.ts';
import { portMutants } from './port.ts';

const LIBS = join(import.meta.dirname, '../../../libs/public');
const FILES = [
  'proof/src/admission.ts',
  'proof/src/base64.ts',
  'proof/src/fields.ts',
  'proof/src/headers.ts',
  'proof/src/jwk-set.ts',
  'proof/src/signature.ts',
  'proof/src/signing-input.ts',
  'proof/src/small-order.ts',
  'proof/src/verification-key.ts',
  'verifier/src/claim.ts',
  'verifier/src/keys/local.ts',
  'verifier/src/policy.ts',
  'verifier/src/replay/memory/ledger.ts',
  'verifier/src/replay/memory/store.ts',
  'verifier/src/replay/replay-store.ts',
  'verifier/src/requirements.ts',
  'verifier/src/verifier.ts',
];
/** Misuse by the daemon's own code, and code for reports. SPEC.md covers neither. */
const SKIP = /TypeError|DRIFT_MS|nowSaid|onOutcome|entriesMax|[cC]luster|created\b.*Moment|createdNow/;
const LIMIT_MS = 120_000;

interface Fate {
  readonly mutant: Mutant;
  readonly killer: string | undefined;
}

function ourMutants(): Mutant[] {
  const drawn = FILES.flatMap((name) => {
    const file = join(LIBS, name);
    return mutantsOf(file, readFileSync(file, 'utf8'), SKIP);
  });
  const historical = HISTORICAL.map(({ file: name, from, to }): Mutant => {
    const file = join(LIBS, FILES.find((each) => each.endsWith(`/${name}`)) ?? name);
    const text = readFileSync(file, 'utf8');
    const start = text.indexOf(from);
    if (start === -1) throw new Error(`${name} does not contain: ${from}`);
    return { file, line: text.slice(0, start).split('\n').length, start, end: start + from.length, from, to };
  });
  return [...drawn.filter((_, index) => index % every === 0), ...historical];
}

/** Runs each mutant in a worker thread, which is replaced if the bug keeps it from answering. */
async function fatesOf(mutants: readonly Mutant[], threads: number): Promise<Fate[]> {
  const fates: Fate[] = [];
  const queue = [...mutants.entries()];
  const run = async (): Promise<void> => {
    let worker = await startWorker();
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [number, mutant] = next;
      const killer = await askWorker(worker, number, mutant);
      if (killer === STUCK) {
        await worker.terminate();
        worker = await startWorker();
      }
      fates.push({ mutant, killer });
      if (fates.length % 25 === 0) console.log(`${fates.length} of ${mutants.length}`);
    }
    await worker.terminate();
  };
  await Promise.all(Array.from({ length: threads }, run));
  return fates;
}

const STUCK = 'it never answered';

function startWorker(): Promise<Worker> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url));
  return new Promise((resolve, reject) => {
    worker.once('message', () => resolve(worker));
    worker.once('error', reject);
  });
}

function askWorker(worker: Worker, number: number, mutant: Mutant): Promise<string | undefined> {
  return new Promise((resolve) => {
    const settle = (killer: string | undefined): void => {
      clearTimeout(timer);
      worker.off('message', onAnswer).off('error', onEnd).off('exit', onEnd);
      resolve(killer);
    };
    const onAnswer = ({ killer }: { killer?: string }): void => settle(killer);
    const onEnd = (): void => settle(STUCK);
    const timer = setTimeout(onEnd, LIMIT_MS);
    worker.on('message', onAnswer).on('error', onEnd).on('exit', onEnd);
    worker.postMessage({ number, mutant });
  });
}

function report(what: string, fates: readonly Fate[]): boolean {
  const isEquivalent = ({ mutant }: Fate): boolean =>
    EQUIVALENT.some(
      ([file, part, to]) =>
        mutant.file.endsWith(file) &&
        textAround(mutant).includes(part) &&
        (to === undefined || mutant.to === to),
    );
  const survivors = fates.filter(({ killer }) => killer === undefined);
  const alive = survivors.filter((fate) => !isEquivalent(fate));
  const bugs = fates.length - (survivors.length - alive.length);
  const killed = bugs - alive.length;
  console.log(`\n${what}: ${killed} of ${bugs} bugs killed, ${((100 * killed) / bugs).toFixed(1)} %`);
  console.log(`(${survivors.length - alive.length} more are no bugs: equivalent.ts says why)`);
  for (const { mutant } of alive) {
    console.log(
      `  survived ${mutant.file.split('/').slice(-3).join('/')}:${mutant.line} ${mutant.from} -> ${mutant.to}`,
    );
    console.log(`           ${textAround(mutant).trim().slice(0, 130)}`);
  }
  return killed >= 0.98 * bugs;
}

function textAround({ file, line }: Mutant): string {
  return readFileSync(file, 'utf8').split('\n')[line - 1] ?? '';
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { every: { type: 'string', default: '1' } },
});
const only = positionals[0] ?? '';
const every = Number(options.every);
const threads = 2;
const enough: boolean[] = [];
if (['', 'ours'].includes(only)) enough.push(report('@ori/verifier', await fatesOf(ourMutants(), threads)));
for (const name of ['Python port', 'Go port']) {
  if (!['', 'port', name.split(' ')[0]?.toLowerCase()].includes(only)) continue;
  const fates = await portMutants(name, threads, every);
  if (fates.length > 0) enough.push(report(`the ${name}`, fates));
}
process.exitCode = enough.every(Boolean) ? 0 : 1;
