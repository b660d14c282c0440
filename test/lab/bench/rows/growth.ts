import { setTimeout as pause } from 'node:timers/promises';
import { type Asker, askersOf } from '../growth-operations.ts';
import { openGrowthStage } from '../growth-stage.ts';
import { type Answer, HttpConnection, isRepeatable, REPEAT_AFTER_MS } from '../http-connection.ts';
import { type Bench, type Finding, median, type Row } from '../row.ts';

/** The cost of an account's operations in a small database, beside an account with many rows, and for that account. */
export const growthRow: Row = {
  name: 'growth',
  async run(bench) {
    const many = bench.isQuick ? 2000 : 1_000_000;
    const some = bench.isQuick ? 500 : 100_000;
    const size = { members: many, keys: many, assignments: many, interns: some, guardrails: some };
    bench.progress(
      `filling a database with ${many} members, keys and assignments, ${some} interns and guardrails`,
    );
    await using stage = await openGrowthStage(size);
    const accounts = [stage.alone, stage.beside, stage.large];
    const askers = await Promise.all(accounts.map(askersOf));
    const findings: Finding[] = [];
    for (const operation of Object.keys(askers[0] ?? {})) {
      bench.progress(operation);
      const sides = askers.map(({ [operation]: asker }) => asker as Asker);
      const [alone = [], beside = [], large = []] = await takeTurns(bench, operation, sides);
      const finding = (title: string, name: string, ours: readonly number[], atMost: number) => ({
        title: `${operation}, ${title}`,
        unit: 'ms',
        ours: { name, rounds: ours },
        theirs: { name: 'alone', rounds: alone },
        mark: { atMost },
      });
      findings.push(
        finding(`beside ${many} of others`, 'beside', beside, 1.5),
        finding(`with ${many} of its own`, 'own', large, 3),
      );
    }
    return findings;
  },
};

const REPEATS_MAX = 20;

/** Lets each client send one request in turn, many times per round. @returns of each the median of each round in milliseconds */
async function takeTurns(bench: Bench, operation: string, askers: readonly Asker[]): Promise<number[][]> {
  const perRound = bench.isQuick ? 4 : 30;
  const sides = await Promise.all(
    askers.map(async ({ port, next }) => ({
      next,
      connection: await HttpConnection.open(port, (error) => {
        throw error;
      }),
      tookMs: [] as number[],
      medians: [] as number[],
    })),
  );
  let repeats = 0;
  try {
    // The first round is a warm-up.
    for (let round = 0; round <= bench.rounds; round++) {
      for (const side of sides) side.tookMs = [];
      for (let turn = 0; turn < perRound; turn++) {
        for (const { next, connection, tookMs } of sides) {
          const request = await next();
          const send = () => new Promise<Answer>((resolve) => connection.send(request, resolve));
          const startedAt = performance.now();
          let answer = await send();
          for (; isRepeatable(answer) && repeats < REPEATS_MAX; repeats++) {
            await pause(REPEAT_AFTER_MS);
            answer = await send();
          }
          tookMs.push(performance.now() - startedAt);
          if (answer.status !== 200 && answer.status !== 201)
            throw new Error(`${operation}: an answer other than 200 or 201:\n${answer.text}`);
        }
      }
      if (round > 0) for (const { medians, tookMs } of sides) medians.push(median(tookMs));
    }
  } finally {
    for (const { connection } of sides) connection.close();
  }
  if (repeats > 0) bench.remark(`${operation}: ${repeats} requests were sent again`);
  return sides.map(({ medians }) => medians);
}
