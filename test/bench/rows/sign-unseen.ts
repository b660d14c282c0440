import { compareSides } from '../compare-sides.ts';
import type { Row } from '../row.ts';
import { requestBytes, warmStage } from '../sign-stage.ts';

/** More than a server can answer in a second. */
const TOKENS_PER_SECOND = 6000;

/** The sign route with a new ES256 token in each request, against the bare route. */
export const signUnseenRow: Row = {
  name: 'sign-unseen',
  async run(bench) {
    const stage = await warmStage(bench);
    const { ours, floor: theirs, world } = stage;
    const wish = async () => {
      const tokens = Array.from({ length: TOKENS_PER_SECOND * bench.load.seconds }, () =>
        world.token({ signWith: 'ES256' }),
      );
      const requests = (await Promise.all(tokens)).map((token) => requestBytes(world, token));
      return { requests, eachOnce: true };
    };
    await stage.load(ours, { ...bench.load, ...(await wish()) });
    return compareSides(bench, stage, { ours, theirs, throughput: 0.4, wish });
  },
};
