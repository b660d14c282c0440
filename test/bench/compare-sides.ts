import { alternate, type Bench, type Finding } from './row.ts';
import type { LoadWish, Measured, SigningSide, SignStage } from './sign-stage.ts';

export interface Comparison {
  readonly ours: SigningSide;
  readonly theirs: SigningSide;
  /** The minimum throughput, as a ratio to theirs. */
  readonly throughput?: number;
  /** The maximum CPU time per proof, as a ratio to theirs; absent: reported without a target. */
  readonly cpu?: number;
  /** The maximum of p99 / p50, as a ratio to theirs. */
  readonly tail?: number;
  /** Creates the requests to a side for each round. Default: requests of sessions seen before. */
  wish?(side: SigningSide): Promise<Partial<LoadWish>>;
}

/** Loads both sides in turn as fast as they answer, and compares throughput and CPU time. */
export async function compareSides(
  bench: Bench,
  stage: SignStage,
  comparison: Comparison,
): Promise<readonly Finding[]> {
  const { wish = async () => ({}) } = comparison;
  const load = async (side: SigningSide) => stage.load(side, { ...bench.load, ...(await wish(side)) });
  const measured = await alternate(bench, {
    ours: () => load(comparison.ours),
    theirs: () => load(comparison.theirs),
  });
  const both = (read: (one: Measured) => number) => ({
    ours: { name: comparison.ours.name, rounds: measured.ours.map(read) },
    theirs: { name: comparison.theirs.name, rounds: measured.theirs.map(read) },
  });
  const { throughput, cpu, tail } = comparison;
  return [
    {
      title: 'throughput',
      unit: 'proofs/s',
      ...both(({ perSecond }) => perSecond),
      ...(throughput !== undefined && { mark: { atLeast: throughput } }),
    },
    {
      title: 'CPU per proof',
      unit: 'µs',
      ...both(({ cpuMicrosecondsEach }) => cpuMicrosecondsEach),
      ...(cpu !== undefined && { mark: { atMost: cpu } }),
    },
    {
      title: 'p99 / p50',
      unit: '',
      ...both(({ p99Ms, p50Ms }) => p99Ms / p50Ms),
      ...(tail !== undefined && { mark: { atMost: tail } }),
    },
    { title: 'p50', unit: 'ms', ...both(({ p50Ms }) => p50Ms) },
    { title: 'p99', unit: 'ms', ...both(({ p99Ms }) => p99Ms) },
    {
      title: 'CPU of Redis per proof',
      unit: 'µs',
      ours: { name: 'Redis', rounds: measured.ours.map(({ redisCpuMicrosecondsEach: each }) => each) },
    },
  ];
}
