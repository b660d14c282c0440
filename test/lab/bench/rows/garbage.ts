import { type Costs, measureGarbage } from '../metered.ts';
import type { Row } from '../row.ts';
import { eachMetered, findingsOf } from './cost.ts';

/** The most that a proof may allocate. */
const MARKS = {
  signer: { bytes: 36 * 1024 },
  'signer, ES256': { bytes: 44 * 1024 },
  'signer, Ed25519': { bytes: 44 * 1024 },
};

/**
 * What a call of one client allocates in code that V8 has optimized. It differs a little each time, as V8 does not always
 * optimize alike.
 */
export const garbageRow: Row = {
  name: 'garbage',
  async run(bench) {
    const costs: Record<string, Costs> = {};
    await eachMetered([], async (name, metered) => {
      bench.progress(name);
      costs[name] = await measureGarbage(metered, bench.isQuick ? 1 : 10);
    });
    return findingsOf(costs, MARKS, { scavenges: 'for 10,000 calls' });
  },
};
