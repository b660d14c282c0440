import type { LoadOrder, LoadReport } from '../../lab/bench/load.ts';
import { cpuSeconds, startServer, startWorker } from '../../lab/bench/processes.ts';
import { AHEAD_MS, BODY, createProof, PATH } from '../../lab/bench/proofs.ts';
import type { Row } from '../../lab/bench/row.ts';

/** More than a daemon answers in a second. */
const CALLS_PER_SECOND = 4000;

const PAIRS = [
  { ours: 'kept', theirs: 'plain', bytes: 1024, atMost: 1.05 },
  { ours: 'proven', theirs: 'kept', bytes: 1024, atMost: 1.25 },
  { ours: 'proven', theirs: 'kept', bytes: 65_536, atMost: 1.25 },
];

/**
 * An accepted call of a daemon that keeps its answers in memory, against one that keeps none, and of one that proves them, too, against
 * one that does not. Each is a process of its own behind HTTP: what a call costs without a connection is the cost of no daemon.
 */
export const answersRow: Row = {
  name: 'answers',
  async run(given) {
    const results: Awaited<ReturnType<Row['run']>>[number][] = [];
    for (const pair of PAIRS) results.push(await compare(given, pair));
    return results;
  },
};

async function compare(
  given: Parameters<Row['run']>[0],
  { ours, theirs, bytes, atMost }: (typeof PAIRS)[number],
): Promise<Awaited<ReturnType<Row['run']>>[number]> {
  // Many short rounds: their ratios spread by some percent.
  const { rounds: count, load } = given;
  const bench = { ...given, rounds: 4 * count, load: { ...load, seconds: load.seconds / 3 } };
  await using stack = new AsyncDisposableStack();
  const open = async (side: string) => ({
    ...stack.use(await startServer('../../../wings/bench/answering', 'servers', [side, String(bytes)])),
    generator: stack.use(startWorker<LoadOrder, LoadReport>('load-process.ts', 'others')),
  });
  const sides = [await open(ours), await open(theirs)];
  const length = CALLS_PER_SECOND * bench.load.seconds;
  const measure = async ({ port, pid, generator }: (typeof sides)[number], requests: readonly string[]) => {
    const before = cpuSeconds(pid);
    const order = { port, requests, eachOnce: true, sampleEvery: 101, ...bench.load };
    const { answers } = await generator.ask(order);
    return { answers, each: ((cpuSeconds(pid) - before) * 1e6) / answers };
  };
  // Both at once, on one core: what disturbs one disturbs the other.
  const measureBoth = () => Promise.all(sides.map((side) => measure(side, Array.from({ length }, signed))));
  bench.progress('warming up');
  // More than fill what is kept of one person, and for V8 to be done with what they run through.
  for (let calls = 0; calls < bench.warmProofs; ) calls += (await measureBoth())[0]?.answers ?? 0;
  const rounds: number[][] = [];
  for (let round = 1; round <= bench.rounds; round++) {
    bench.progress(`round ${round} of ${bench.rounds}`);
    rounds.push((await measureBoth()).map(({ each }) => each));
  }
  const name = (side: string) => (side === 'plain' ? 'not kept' : `answers ${side}`);
  return {
    title: `an accepted call, ${bytes / 1024} KiB`,
    unit: 'CPU µs',
    ours: { name: name(ours), rounds: rounds.map(([each]) => each ?? Number.NaN) },
    theirs: { name: name(theirs), rounds: rounds.map(([, each]) => each ?? Number.NaN) },
    mark: { atMost },
  };
}

function signed(): string {
  const { rawHeaders } = createProof(Date.now() + AHEAD_MS);
  const lines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `POST ${PATH} HTTP/1.1\r\n${lines.join('')}\r\n${Buffer.from(BODY).toString('latin1')}`;
}
