import { compareSides } from '../compare-sides.ts';
import type { Row } from '../row.ts';
import { warmStage } from '../sign-stage.ts';

/** The sign route against a service built from Fastify, its rate limiter and jose. */
export const signPeerRow: Row = {
  name: 'sign-peer',
  async run(bench) {
    const stage = await warmStage(bench);
    const { ours, peer: theirs } = stage;
    return compareSides(bench, stage, { ours, theirs, throughput: 1.25 });
  },
};
