import { type Answer, HttpConnection, isRepeatable, REPEAT_AFTER_MS } from './http-connection.ts';

/** An order to the load generator. */
export interface LoadOrder {
  readonly port: number;
  /** Complete requests, sent in turn, starting over at the end. */
  readonly requests: readonly string[];
  /** Stops early when all of them were sent. */
  readonly eachOnce?: boolean;
  readonly connections: number;
  readonly seconds: number;
  /** Samples one in this many responses. */
  readonly sampleEvery: number;
}

/** The result. Latencies are in milliseconds. */
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

/** Each connection sends when its response has arrived. */
async function generate(order: LoadOrder, fail: (error: Error) => void): Promise<LoadReport> {
  const { port, requests, seconds, sampleEvery } = order;
  const connections = await Promise.all(
    Array.from({ length: order.connections }, () => HttpConnection.open(port, fail)),
  );
  const latencies: number[] = [];
  const samples: string[] = [];
  let sent = 0;
  let repeats = 0;
  const ask = (connection: HttpConnection, then: () => void) => {
    const request = requests[sent++ % requests.length] as string;
    const sentAt = performance.now();
    const settle = (answer: Answer) => {
      const { status, text } = answer;
      if (isRepeatable(answer) && repeats < REPEATS_PER_CONNECTION * order.connections) {
        repeats += 1;
        setTimeout(() => connection.send(request, settle), REPEAT_AFTER_MS);
        return;
      }
      if (status !== 200) return fail(new Error(`an answer other than 200:\n${text}`));
      latencies.push(performance.now() - sentAt);
      if (latencies.length % sampleEvery === 1) samples.push(text);
      then();
    };
    connection.send(request, settle);
  };
  const startedAt = performance.now();
  const isOver = () =>
    performance.now() >= startedAt + seconds * 1000 || (order.eachOnce === true && sent >= requests.length);
  const lane = (connection: HttpConnection) =>
    new Promise<void>((done) => {
      const again = () => (isOver() ? done() : ask(connection, again));
      again();
    });
  await Promise.all(connections.map(lane));
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
