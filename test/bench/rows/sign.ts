import { compareSides } from '../compare-sides.ts';
import type { Row } from '../row.ts';
import { warmStage } from '../sign-stage.ts';

/** The sign route with cached sessions, against a route that does the least work that the contract demands. */
export const signRow: Row = {
  name: 'sign',
  async run(bench) {
    const stage = await warmStage(bench);
    const { ours, leastWork: theirs } = stage;
    return compareSides(bench, stage, { ours, theirs, throughput: 0.92, cpu: 1.15, tail: 1 });
  },
};

/** The same against a bare route that only signs twice, for scale. */
export const signBareRow: Row = {
  name: 'sign-bare',
  async run(bench) {
    const stage = await warmStage(bench);
    const { ours, floor: theirs } = stage;
    return compareSides(bench, stage, { ours, theirs });
  },
};
