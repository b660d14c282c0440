import { type Costs, measureGarbage } from '../metered.ts';
import type { Finding, Row } from '../row.ts';
import { eachMetered } from './cost.ts';

const UNITS: Readonly<Record<string, string>> = { bytes: 'for each call', scavenges: 'for 10,000 calls' };

/** The most bytes that a proof may allocate. */
const MARKS: Readonly<Record<string, number>> = {
  signer: 36 * 1024,
  'signer, ES256': 44 * 1024,
  'signer, Ed25519': 44 * 1024,
};

/** What a call allocates in code that V8 has optimized, of one client: more or less, as V8 optimizes differently each time. */
export const garbageRow: Row = {
  name: 'garbage',
  async run(bench) {
    const costs: Record<string, Costs> = {};
    await eachMetered([], async (name, metered) => {
      bench.progress(name);
      costs[name] = await measureGarbage(metered, bench.isQuick ? 1 : 10);
    });
    return Object.entries(costs).flatMap(([name, one]) =>
      Object.entries(one).map(([what, rounds]): Finding => {
        const mark = what === 'bytes' ? MARKS[name] : undefined;
        const finding = { title: what, unit: UNITS[what] ?? '', ours: { name, rounds } };
        return mark === undefined ? finding : { ...finding, mark: { atMost: mark } };
      }),
    );
  },
};
