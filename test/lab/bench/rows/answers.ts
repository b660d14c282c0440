import type { LoadOrder, LoadReport } from '../load.ts';
import { cpuSeconds, startServer, startWorker } from '../processes.ts';
import { AHEAD_MS, BODY, createProof, PATH } from '../proofs.ts';
import { alternate, type Row } from '../row.ts';

/** More than a daemon answers in a second. */
const CALLS_PER_SECOND = 6000;

/**
 * An accepted call of a daemon that keeps its answers of 1 KiB in memory, against one that keeps none. Both are processes of their own
 * behind HTTP: what a call costs without a connection is the cost of no daemon.
 */
export const answersRow: Row = {
  name: 'answers',
  async run(given) {
    // Many short rounds: the machine drifts by more than the answers cost.
    const { rounds, load } = given;
    const bench = { ...given, rounds: 5 * rounds, load: { ...load, seconds: load.seconds / 4 } };
    await using stack = new AsyncDisposableStack();
    const open = async (side: string) => stack.use(await startServer('answering', 'servers', [side]));
    const [kept, plain] = [await open('kept'), await open('plain')];
    const generator = stack.use(startWorker<LoadOrder, LoadReport>('load-process.ts', 'others'));
    const length = CALLS_PER_SECOND * bench.load.seconds;
    const measure = async ({ port, pid }: typeof kept) => {
      const requests = Array.from({ length }, signed);
      const before = cpuSeconds(pid);
      const { answers } = await generator.ask({
        port,
        requests,
        eachOnce: true,
        ...bench.load,
        sampleEvery: 101,
      });
      return { answers, each: ((cpuSeconds(pid) - before) * 1e6) / answers };
    };
    bench.progress('warming up');
    for (const side of [kept, plain]) {
      for (let calls = 0; calls < bench.warmProofs; ) calls += (await measure(side)).answers;
    }
    const sides = await alternate(bench, { kept: () => measure(kept), plain: () => measure(plain) });
    const costOf = (rounds: typeof sides.kept) => rounds.map(({ each }) => each);
    return [
      {
        title: 'an accepted call',
        unit: 'CPU µs',
        ours: { name: 'answers kept', rounds: costOf(sides.kept) },
        theirs: { name: 'not kept', rounds: costOf(sides.plain) },
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
