import type { Worker } from '../../env/worker.ts';
import type { LoadOrder, LoadReport } from '../../lab/bench/load.ts';
import { cpuSeconds, type Server, startServer, startWorker } from '../../lab/bench/processes.ts';
import { AHEAD_MS, BODY, createProof, PATH } from '../../lab/bench/proofs.ts';
import type { Bench, Finding, Row } from '../../lab/bench/row.ts';

/** Short turns, taken by one side after the other: what disturbs one disturbs the other. */
const CALLS_PER_TURN = 400;
/** A turn ends with its calls. */
const SECONDS_AT_MOST = 60;
/** Of the rounds and the warm-up of a row whose rounds are longer, for each pair of processes. */
const ROUNDS_SHARE = 2;
const WARM_SHARE = 0.4;
/** As V8 compiles and lays out the same program in one way or another, two processes of a side differ by some percent. */
const PAIRS_OF_PROCESSES = 3;
/**
 * The young generation of each side, in MiB. V8 starts with less and ends with 16, some processes of a side thousands of calls before others.
 * The bodies of 64 KiB that 16 MiB of other garbage leave behind are outside of them, and so many that V8 collects everything: some
 * processes 30 times as often as others, which then take a quarter longer for each call.
 */
const YOUNG_GENERATION = ['--min-semi-space-size=4', '--max-semi-space-size=4'];

const NAMES = { plain: 'not kept', signed: 'kept, and one signature' };
/** As `startServer` finds it. */
const SIDE = '../../../wings/bench/answering';
const PAIRS = [
  { ours: 'kept', theirs: 'kept', bytes: 1024, mark: undefined },
  { ours: 'kept', theirs: 'plain', bytes: 1024, mark: { atMost: 1.05 } },
  { ours: 'proven', theirs: 'kept', bytes: 1024, mark: { atMost: 1.25 } },
  { ours: 'proven', theirs: 'kept', bytes: 65_536, mark: { atMost: 1.25 } },
  { ours: 'proven', theirs: 'signed', bytes: 1024, mark: undefined },
  { ours: 'proven', theirs: 'signed', bytes: 65_536, mark: undefined },
];

/**
 * An accepted call of a daemon that keeps its answers in memory, against one that keeps none, and of one that proves them, too, against
 * one that does not. The first line, of a daemon against itself, says how far the others can be trusted; the last two, what proofs cost
 * beside the one digest and the one signature that they are. Each is a process of its own behind HTTP: what a call costs without a
 * connection is the cost of no daemon.
 */
export const answersRow: Row = {
  name: 'answers',
  async run(bench) {
    await using generator = startWorker<LoadOrder, LoadReport>('load-process.ts', 'others');
    const results: Finding[] = [];
    for (const pair of PAIRS) results.push(await compare(bench, pair, generator));
    return results;
  },
};

async function compare(
  bench: Bench,
  { ours, theirs, bytes, mark }: (typeof PAIRS)[number],
  generator: Worker<LoadOrder, LoadReport>,
): Promise<Finding> {
  const rounds: { ours: number; theirs: number }[] = [];
  for (let pair = 1; pair <= (bench.isQuick ? 1 : PAIRS_OF_PROCESSES); pair++) {
    await using stack = new AsyncDisposableStack();
    const open = async (side: string) =>
      stack.use(await startServer(SIDE, 'servers', [side, String(bytes)], YOUNG_GENERATION));
    const [our, their] = [await open(ours), await open(theirs)];
    /** CPU time of one call, in microseconds. */
    const measure = async ({ port, pid }: Server) => {
      const requests = Array.from({ length: CALLS_PER_TURN }, signed);
      const before = cpuSeconds(pid);
      const { connections } = bench.load;
      const order = {
        port,
        requests,
        eachOnce: true,
        connections,
        seconds: SECONDS_AT_MOST,
        sampleEvery: 101,
      };
      const { answers } = await generator.ask(order);
      return ((cpuSeconds(pid) - before) * 1e6) / answers;
    };
    const take = async (round: number) => {
      // Each is first as often as the other.
      if (round % 2 === 0) return { ours: await measure(our), theirs: await measure(their) };
      const theirs = await measure(their);
      return { ours: await measure(our), theirs };
    };
    bench.progress(`${ours}, ${theirs}, ${bytes}: warming up pair ${pair}`);
    // For V8 to be done with what they run through.
    for (let calls = 0; calls < WARM_SHARE * bench.warmProofs; calls += CALLS_PER_TURN) await take(0);
    bench.progress(`${ours}, ${theirs}, ${bytes}: measuring pair ${pair}`);
    for (let round = 0; round < ROUNDS_SHARE * bench.rounds; round++) rounds.push(await take(round));
  }
  const name = (side: string) => NAMES[side as keyof typeof NAMES] ?? `answers ${side}`;
  return {
    title: `an accepted call, ${bytes / 1024} KiB`,
    unit: 'CPU µs',
    ours: { name: name(ours), rounds: rounds.map((round) => round.ours) },
    theirs: { name: name(theirs), rounds: rounds.map((round) => round.theirs) },
    ...(mark && { mark }),
  };
}

function signed(): string {
  const { rawHeaders } = createProof(Date.now() + AHEAD_MS);
  const lines = rawHeaders.map((text, index) => (index % 2 === 0 ? `${text}: ` : `${text}\r\n`));
  return `POST ${PATH} HTTP/1.1\r\n${lines.join('')}\r\n${Buffer.from(BODY).toString('latin1')}`;
}
