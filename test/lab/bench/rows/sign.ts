import { alternate, type Finding, type Mark, type Row } from '../row.ts';
import { type Measured, openSignStage } from '../sign-stage.ts';

/**
 * The sign route with cached sessions, against a route that does the least work that the contract demands. Both sides are
 * loaded in turn as fast as they answer.
 */
export const signRow: Row = {
  name: 'sign',
  async run(bench) {
    await using stage = await openSignStage(bench);
    const { ours, leastWork, load } = stage;
    const measured = await alternate(bench, { ours: () => load(ours), theirs: () => load(leastWork) });
    const finding = (title: string, unit: string, read: (one: Measured) => number, mark: Mark): Finding => ({
      title,
      unit,
      mark,
      ours: { name: ours.name, rounds: measured.ours.map(read) },
      theirs: { name: leastWork.name, rounds: measured.theirs.map(read) },
    });
    return [
      finding('throughput', 'proofs/s', ({ perSecond }) => perSecond, { atLeast: 0.92 }),
      finding('CPU per proof', 'µs', ({ cpuMicrosecondsEach }) => cpuMicrosecondsEach, { atMost: 1.15 }),
      finding('p99 / p50', '', ({ p99Ms, p50Ms }) => p99Ms / p50Ms, { atMost: 1 }),
      {
        title: 'CPU of Redis per proof',
        unit: 'µs',
        ours: { name: 'Redis', rounds: measured.ours.map((one) => one.redisCpuMicrosecondsEach) },
      },
    ];
  },
};
