import { compareSides } from '../compare-sides.ts';
import type { Finding, Row } from '../row.ts';
import { warmStage } from '../sign-stage.ts';

const CONNECTIONS = [1, 32, 256, 2048];

/** The sign route against the bare route with a growing number of concurrent connections. */
export const signConnectionsRow: Row = {
  name: 'sign-connections',
  async run(bench) {
    const stage = await warmStage(bench);
    const { ours, floor: theirs } = stage;
    const findings: Finding[] = [];
    for (const connections of CONNECTIONS.slice(0, bench.isQuick ? 2 : undefined)) {
      const measured = await compareSides(bench, stage, {
        ours,
        theirs,
        wish: async () => ({ connections }),
      });
      // The plot shows the row `sign` instead.
      findings.push(
        ...measured.map(({ plot: _, ...finding }) => ({
          ...finding,
          title: `${finding.title}, ${connections} connections`,
        })),
      );
    }
    return findings;
  },
};
