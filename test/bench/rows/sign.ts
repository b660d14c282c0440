import { alternate, type Row } from '../row.ts';
import { type Measured, openSignStage, warm } from '../sign-stage.ts';

/** The sign route, its sessions seen before, against a bare route that signs twice. */
export const signRow: Row = {
  name: 'sign',
  async run(bench) {
    const stage = await bench.share(openSignStage);
    const { ours, floor } = stage;
    await warm(bench, stage);
    const measured = await alternate(bench, {
      signer: () => stage.load(ours, { seconds: bench.seconds }),
      floor: () => stage.load(floor, { seconds: bench.seconds }),
    });
    const side = (name: 'signer' | 'floor', read: (one: Measured) => number) => ({
      name,
      rounds: measured[name].map(read),
    });
    const both = (read: (one: Measured) => number) => ({
      ours: side('signer', read),
      theirs: side('floor', read),
    });
    return [
      {
        title: 'throughput',
        unit: 'proofs/s',
        ...both(({ perSecond }) => perSecond),
        mark: { atLeast: 0.8 },
        plot: 'throughput',
      },
      {
        title: 'CPU per proof',
        unit: 'µs',
        ...both(({ cpuMicrosecondsEach }) => cpuMicrosecondsEach),
        mark: { atMost: 1.3 },
      },
      { title: 'p50', unit: 'ms', ...both(({ p50Ms }) => p50Ms), plot: 'latency' },
      { title: 'p99', unit: 'ms', ...both(({ p99Ms }) => p99Ms), plot: 'latency' },
    ];
  },
};
