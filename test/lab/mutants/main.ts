import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { EQUIVALENT } from './equivalent.ts';
import type { Mutant } from './operators.ts';
import { type Fate, PORTS, portMutants } from './port.ts';

/** `npm run mutants [-- python|go] [--every N]`. */
const THREADS = 2;

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
const [only] = positionals;
const enough: boolean[] = [];
for (const name of PORTS) {
  if (only !== undefined && !name.toLowerCase().startsWith(only)) continue;
  const fates = await portMutants(name, THREADS, Number(options.every));
  if (fates.length > 0) enough.push(report(`the ${name}`, fates));
}
process.exitCode = enough.every(Boolean) ? 0 : 1;
