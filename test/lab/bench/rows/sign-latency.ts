import { type Bench, median, type Row } from '../row.ts';
import { type Measured, type SignStage, warmStage } from '../sign-stage.ts';

/** Enough that no request waits for a connection unless the server is far behind. */
const CONNECTIONS = 128;

/** Latency of the sign route at half its capacity, with evenly spaced arrivals (open loop). */
export const signLatencyRow: Row = {
  name: 'sign-latency',
  async run(bench) {
    const stage = await warmStage(bench);
    const capacity = await measureCapacity(bench, stage);
    const measured: Measured[] = [];
    const floor: Measured[] = [];
    const delaysMs: number[] = [];
    for (let round = 1; round <= bench.rounds; round++) {
      bench.progress(`round ${round} of ${bench.rounds}: ${Math.round(capacity / 2)} requests/s`);
      await eventLoopDelayMs(stage);
      const wish = { ...bench.load, connections: CONNECTIONS, perSecond: capacity / 2 };
      measured.push(await stage.load(stage.ours, wish));
      delaysMs.push(await eventLoopDelayMs(stage));
      floor.push(await stage.load(stage.floor, wish));
    }
    const tail = ({ p99Ms, p50Ms }: Measured) => p99Ms / p50Ms;
    return [
      {
        title: 'p99 / p50 at half load',
        unit: '',
        ours: { name: 'signer', rounds: measured.map(tail) },
        theirs: { name: 'floor', rounds: floor.map(tail) },
        mark: { atMost: 1 },
      },
      {
        title: 'event-loop delay p99',
        unit: 'ms',
        ours: { name: 'signer', rounds: delaysMs },
        mark: { atMost: 5 },
      },
    ];
  },
};

async function measureCapacity(bench: Bench, { load, ours }: SignStage): Promise<number> {
  const rates: number[] = [];
  for (let round = 0; round < 3; round++) {
    bench.progress('measuring the capacity');
    rates.push((await load(ours, bench.load)).perSecond);
  }
  return median(rates);
}

/** Since the last sample. */
async function eventLoopDelayMs({ world }: SignStage): Promise<number> {
  const { text } = await world.page('/metrics');
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1]) * 1000;
}
