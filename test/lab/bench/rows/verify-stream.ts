import type { StreamAnswer, StreamOrder } from '../memory/streams.ts';
import { startWorker } from '../processes.ts';
import { alternate, type Row } from '../row.ts';

const MIB = 1024 * 1024;

/** A large body verified as it arrives, against SHA-256 of the same bytes alone. */
export const verifyStreamRow: Row = {
  name: 'verify-stream',
  async run(bench) {
    await using worker = startWorker<StreamOrder, StreamAnswer>('memory/streams.ts', 'servers');
    const bytes = (bench.isQuick ? 32 : 256) * MIB;
    const by = (by: StreamOrder['by']) => () => worker.ask({ by, bytes });
    for (const warm of [by('verifier'), by('sha256')]) await warm();
    const { ours, theirs } = await alternate(bench, { ours: by('verifier'), theirs: by('sha256') });
    const speed = (one: StreamAnswer) => one.megabytesPerCpuSecond;
    return [
      {
        title: `${bytes / MIB} MiB`,
        unit: 'MB per CPU s',
        ours: { name: 'begin, update, finish', rounds: ours.map(speed) },
        theirs: { name: 'SHA-256', rounds: theirs.map(speed) },
        mark: { atLeast: 0.95 },
      },
      {
        title: `${bytes / MIB} MiB, resident memory grows`,
        unit: 'MiB',
        ours: { name: 'verifier', rounds: ours.map(({ grewBytes }) => grewBytes / MIB) },
        mark: { atMost: 16 },
      },
    ];
  },
};
