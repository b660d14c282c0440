import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, HttpConnection, isRepeatable, REPEAT_AFTER_MS } from './http-connection.ts';
import { type Bench, median } from './row.ts';

/** A client of one server, one request at a time. */
export interface Asker {
  readonly port: number;
  /** The complete next request. */
  next(): string | Promise<string>;
  /** @throws Error unless the response is the expected one */
  check(answer: Answer): void;
}

const REPEATS_MAX = 20;

/** Lets each client send one request in turn, many times per round. @returns the median of each round in milliseconds */
export async function takeTurns<Name extends string>(
  bench: Bench,
  askers: Readonly<Record<Name, Asker>>,
  { perRound, warm }: { readonly perRound: number; readonly warm: number },
): Promise<Record<Name, number[]>> {
  const sides = Object.entries(askers) as [Name, Asker][];
  const medians = Object.fromEntries(sides.map(([name]) => [name, []])) as unknown as Record<Name, number[]>;
  const connections = await Promise.all(sides.map(([, { port }]) => HttpConnection.open(port, fail)));
  const send = (index: number, request: string) =>
    new Promise<Answer>((resolve) => connections[index]?.send(request, resolve));
  let repeats = 0;
  const turns = async (count: number) => {
    const tookMs = sides.map((): number[] => []);
    for (let turn = 0; turn < count; turn++) {
      for (const [index, [, asker]] of sides.entries()) {
        const request = await asker.next();
        const startedAt = performance.now();
        let answer = await send(index, request);
        for (; isRepeatable(answer) && repeats < REPEATS_MAX; repeats++) {
          await pause(REPEAT_AFTER_MS);
          answer = await send(index, request);
        }
        tookMs[index]?.push(performance.now() - startedAt);
        if (answer.status !== 200 && answer.status !== 201)
          throw new Error(`an answer other than 200 or 201:\n${answer.text}`);
        asker.check(answer);
      }
    }
    return tookMs;
  };
  try {
    bench.progress('warming up');
    await turns(warm);
    for (let round = 1; round <= bench.rounds; round++) {
      bench.progress(`round ${round} of ${bench.rounds}`);
      for (const [index, took] of (await turns(perRound)).entries()) {
        medians[(sides[index] as [Name, Asker])[0]].push(median(took));
      }
    }
  } finally {
    for (const connection of connections) connection.close();
  }
  if (repeats > 0) bench.remark(`${Object.keys(askers)}: ${repeats} requests were sent again`);
  return medians;
}

function fail(error: Error): never {
  throw error;
}
