import { compareSides } from '../compare-sides.ts';
import type { Row } from '../row.ts';
import { warmStage } from '../sign-stage.ts';

/** The sign route with cached sessions, against a bare route that signs twice. */
export const signRow: Row = {
  name: 'sign',
  async run(bench) {
    const stage = await warmStage(bench);
    const { ours, floor: theirs } = stage;
    return compareSides(bench, stage, { ours, theirs, throughput: 0.87, cpu: 1.15, tail: 1 });
  },
};
