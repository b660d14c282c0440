import type { LoadOrder, LoadReport } from '../load.ts';
import { cpuSeconds, startServer, startWorker } from '../processes.ts';
import { AHEAD_MS, BODY, createProof, PATH } from '../proofs.ts';
import type { Row } from '../row.ts';

/** More than a daemon answers in a second. */
const CALLS_PER_SECOND = 4000;
/** The answers of so many fill the 64 MiB that are kept. Until then each call may touch memory that is new to the process. */
const CALLS_OF_A_FULL_BUFFER = 64 * 1024;

/**
 * An accepted call of a daemon that keeps its answers of 1 KiB in memory, against one that keeps none. Both are processes of their own
 * behind HTTP: what a call costs without a connection is the cost of no daemon.
 */
export const answersRow: Row = {
  name: 'answers',
  async run(given) {
    // Many short rounds: their ratios spread by some percent.
    const { rounds: count, load } = given;
    const bench = { ...given, rounds: 4 * count, load: { ...load, seconds: load.seconds / 3 } };
    await using stack = new AsyncDisposableStack();
    const open = async (side: string) => ({
      ...stack.use(await startServer('answering', 'servers', [side])),
      generator: stack.use(startWorker<LoadOrder, LoadReport>('load-process.ts', 'others')),
    });
    const [kept, plain] = [await open('kept'), await open('plain')];
    const length = CALLS_PER_SECOND * bench.load.seconds;
    const measure = async ({ port, pid, generator }: typeof kept, requests: readonly string[]) => {
      const before = cpuSeconds(pid);
      const order = { port, requests, eachOnce: true, sampleEvery: 101, ...bench.load };
      const { answers } = await generator.ask(order);
      return { answers, each: ((cpuSeconds(pid) - before) * 1e6) / answers };
    };
    // Both at once, on one core: what disturbs one disturbs the other.
    const measureBoth = () =>
      Promise.all([kept, plain].map((side) => measure(side, Array.from({ length }, signed))));
    bench.progress('warming up');
    const warmCalls = bench.isQuick ? bench.warmProofs : CALLS_OF_A_FULL_BUFFER;
    for (let calls = 0; calls < warmCalls; ) calls += (await measureBoth())[0]?.answers ?? 0;
    const rounds: number[][] = [];
    for (let round = 1; round <= bench.rounds; round++) {
      bench.progress(`round ${round} of ${bench.rounds}`);
      rounds.push((await measureBoth()).map(({ each }) => each));
    }
    return [
      {
        title: 'an accepted call',
        unit: 'CPU µs',
        ours: { name: 'answers kept', rounds: rounds.map(([each]) => each ?? Number.NaN) },
        theirs: { name: 'not kept', rounds: rounds.map(([, each]) => each ?? Number.NaN) },
        mark: { atMost: 1.05 },
      },
    ];
  },
};

function signed(): string {
  const { rawHeaders } = createProof(Date.now() + AHEAD_MS);
  const lines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `POST ${PATH} HTTP/1.1\r\n${lines.join('')}\r\n${Buffer.from(BODY).toString('latin1')}`;
}
