import { type Answer, HttpConnection, isRepeatable, REPEAT_AFTER_MS } from './http-connection.ts';
import { startPacer } from './pacer.ts';

/** An order to the load generator. */
export interface LoadOrder {
  readonly port: number;
  /** Complete requests, sent in turn, starting over at the end. */
  readonly requests: readonly string[];
  /** Stops early when all of them were sent. Not with `perSecond`. */
  readonly eachOnce?: boolean;
  readonly connections: number;
  readonly seconds: number;
  /** Arrivals per second, evenly spaced, independent of the responses. Absent: each connection sends when its response arrived. */
  readonly perSecond?: number;
  /** Samples one in this many responses. */
  readonly sampleEvery: number;
}

/** The result. Latencies are in milliseconds; in an open loop they count from the time the request was due. */
export interface LoadReport {
  readonly answers: number;
  /** Requests that were sent again after a retryable response. */
  readonly repeats: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly samples: readonly string[];
}

/** If the machine stalls for longer than a dependency's timeout, each connection may get a retryable response or two. */
const REPEATS_PER_CONNECTION = 5;

/** The time that a pacer's thread has to start. */
const PACER_LEAD_MS = 200;

/**
 * A request with a retryable response is sent again after a pause; its time counts from the first attempt.
 *
 * @throws Error for any other response except 200, for too many repeats, and for a connection that ends
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

/** A request without a free connection waits, and the wait counts: a slow server does not hide its own latency. */
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
