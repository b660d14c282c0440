import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type RowReport, renderJson, renderReport } from './report.ts';
import { type Bench, isReached, type Row } from './row.ts';
import { ROWS } from './rows.ts';

const USAGE = `npm run bench -- [--quick] [--rows ${ROWS.map(({ name }) => name).join(',')}] [--strict]
  --quick   a few short rounds, to see that everything runs: its figures are no measure
  --strict  exit 1 where a mark was missed; without it, only where one of the row cost was`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rows: { type: 'string' },
    strict: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const FULL = { rounds: 11, load: { seconds: 2, connections: 32 }, warmProofs: 40_000 };
const QUICK = { rounds: 2, load: { seconds: 0.3, connections: 8 }, warmProofs: 500 };
const folder = join(import.meta.dirname, 'results');

if (options.help) console.log(USAGE);
else process.exitCode = await main();

async function main(): Promise<number> {
  const chosen = chooseRows(options.rows);
  await using stack = new AsyncDisposableStack();
  const shared = new Map<unknown, Promise<AsyncDisposable>>();
  const reports: RowReport[] = [];
  const remarks: string[] = [];
  let isFailed = false;
  for (const row of chosen) {
    const bench: Bench = {
      ...(options.quick ? QUICK : FULL),
      isQuick: options.quick,
      progress: (what) => say(`${row.name}: ${what}`),
      remark: (what) => void remarks.push(what),
      share<T extends AsyncDisposable>(open: (bench: Bench) => Promise<T>) {
        const opened = (shared.get(open) ?? open(bench).then((part) => stack.use(part))) as Promise<T>;
        shared.set(open, opened);
        return opened;
      },
    };
    // What other rows took minutes to measure is not lost with it.
    const failed = (error: unknown): RowReport => {
      console.error(error);
      isFailed = true;
      return { row: row.name, isExact: false, findings: [], skipped: 'it failed' };
    };
    reports.push(await runRow(row, bench).catch(failed));
  }
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'bench.json'), renderJson(reports, remarks, options));
  console.log(`\n${[renderReport(reports), ...remarks].join('\n')}\n\n${join(folder, 'bench.json')}`);
  const missed = reports.flatMap(({ isExact, findings }) =>
    findings.filter((one) => isReached(one) === false).map(() => options.strict || isExact),
  );
  if (missed.length > 0) console.log(`${missed.length} mark(s) missed`);
  return isFailed || missed.includes(true) ? 1 : 0;
}

async function runRow(row: Row, bench: Bench): Promise<RowReport> {
  const skipped = row.missing?.();
  const { name, isExact = false } = row;
  if (skipped !== undefined) return { row: name, isExact, findings: [], skipped };
  return { row: name, isExact, findings: await row.run(bench) };
}

function chooseRows(names: string | undefined): readonly Row[] {
  if (names === undefined) return ROWS;
  return names.split(',').map((name) => {
    const row = ROWS.find((one) => one.name === name);
    if (row === undefined) throw new Error(`no such row: ${name}\n${USAGE}`);
    return row;
  });
}

function say(text: string): void {
  process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
}
