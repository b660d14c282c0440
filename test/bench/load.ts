import { type Answer, HttpConnection, isRepeatable, REPEAT_AFTER_MS } from './http-connection.ts';
import { startPacer } from './pacer.ts';

/** What the generator is asked to do. */
export interface LoadOrder {
  readonly port: number;
  /** Whole requests, sent in turn and from the first again. */
  readonly requests: readonly string[];
  /** The load ends before its time when all of them were sent. Not with `perSecond`. */
  readonly eachOnce?: boolean;
  readonly connections: number;
  readonly seconds: number;
  /** Arrivals in a second, evenly spaced, whatever the answers do. Absent: each connection asks again when answered. */
  readonly perSecond?: number;
  /** One of so many answers is handed back whole. */
  readonly sampleEvery: number;
}

/** What came of it. Latencies in milliseconds; of an open loop from the moment the request was due. */
export interface LoadReport {
  readonly answers: number;
  /** Requests sent again, as the answer to them allowed. */
  readonly repeats: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly samples: readonly string[];
}

/** A machine that stands still for longer than a dependency may take costs each connection an answer or two. */
const REPEATS_PER_CONNECTION = 5;

/** What a pacer's thread has to begin. */
const PACER_LEAD_MS = 200;

/**
 * A request whose answer says that it may be repeated is, a little later, and its time counts from the first.
 *
 * @throws Error for any other answer but 200, for too many repeats, for a connection that ends: what is measured is work done
 */
export async function runLoad(order: LoadOrder): Promise<LoadReport> {
  return new Promise((resolve, reject) => {
    generate(order, reject).then(resolve, reject);
  });
}

async function generate(order: LoadOrder, fail: (error: Error) => void): Promise<LoadReport> {
  const { port, requests, seconds, sampleEvery } = order;
  const connections = await Promise.all(
    Array.from({ length: order.connections }, () => HttpConnection.open(port, fail)),
  );
  const latencies: number[] = [];
  const samples: string[] = [];
  let sent = 0;
  let repeats = 0;
  const ask = (connection: HttpConnection, dueAt: number, then: () => void) => {
    const request = requests[sent++ % requests.length] as string;
    const settle = (answer: Answer) => {
      const { status, text } = answer;
      if (isRepeatable(answer) && repeats < REPEATS_PER_CONNECTION * order.connections) {
        repeats += 1;
        setTimeout(() => connection.send(request, settle), REPEAT_AFTER_MS);
        return;
      }
      if (status !== 200) return fail(new Error(`an answer other than 200:\n${text}`));
      latencies.push(performance.now() - dueAt);
      if (latencies.length % sampleEvery === 1) samples.push(text);
      then();
    };
    connection.send(request, settle);
  };
  const startedAt = performance.now() + (order.perSecond === undefined ? 0 : PACER_LEAD_MS);
  const isUsedUp = () => order.eachOnce === true && sent >= requests.length;
  const plan = { connections, ask, isUsedUp, startedAt, endsAt: startedAt + seconds * 1000 };
  await (order.perSecond === undefined ? closedLoop(plan) : openLoop(plan, order.perSecond));
  const took = (performance.now() - startedAt) / 1000;
  for (const connection of connections) connection.close();
  latencies.sort((a, b) => a - b);
  const percentile = (share: number) => latencies[Math.floor(latencies.length * share)] ?? Number.NaN;
  return {
    answers: latencies.length,
    repeats,
    seconds: took,
    perSecond: latencies.length / took,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
    samples,
  };
}

interface Plan {
  readonly connections: readonly HttpConnection[];
  readonly ask: (connection: HttpConnection, dueAt: number, then: () => void) => void;
  readonly isUsedUp: () => boolean;
  readonly startedAt: number;
  readonly endsAt: number;
}

async function closedLoop({ connections, ask, isUsedUp, endsAt }: Plan): Promise<void> {
  await Promise.all(
    connections.map(
      (connection) =>
        new Promise<void>((done) => {
          const again = () => {
            const now = performance.now();
            if (now >= endsAt || isUsedUp()) done();
            else ask(connection, now, again);
          };
          again();
        }),
    ),
  );
}

/** A request that finds no connection free waits, and its wait counts: nothing is left out because the server is slow. */
async function openLoop({ connections, ask, startedAt, endsAt }: Plan, perSecond: number): Promise<void> {
  const free = [...connections];
  const spacingMs = 1000 / perSecond;
  const over = Promise.withResolvers<void>();
  let due = 0;
  const catchUp = () => {
    const now = performance.now();
    for (;;) {
      const dueAt = startedAt + due * spacingMs;
      if (dueAt >= endsAt && free.length === connections.length) over.resolve();
      if (dueAt > now || dueAt >= endsAt) return;
      const connection = free.pop();
      if (connection === undefined) return;
      due += 1;
      ask(connection, dueAt, () => {
        free.push(connection);
        catchUp();
      });
    }
  };
  await using _pacer = startPacer(startedAt, spacingMs, catchUp);
  await over.promise;
}
