import { compareSides } from '../compare-sides.ts';
import type { Row } from '../row.ts';
import { warmStage } from '../sign-stage.ts';
import { spreadOver } from '../spread.ts';

/** The sign route for a million interns, with uniform and power-law distributions, against calls to a single intern. */
export const signSpreadRow: Row = {
  name: 'sign-spread',
  async run(bench) {
    const stage = await warmStage(bench);
    const { ours, world, requests } = stage;
    const interns = bench.isQuick ? 5_000 : 1_000_000;
    bench.progress(`filling a database with ${interns} interns`);
    const token = await world.issuer.token({ expiresInSeconds: 7200 });
    const spread = await spreadOver(stage, interns, token);
    const one = { ...ours, name: 'one intern' };
    const findings = [];
    for (const [name, those] of Object.entries({ evenly: spread.even, 'by a power law': spread.powerLaw })) {
      const many = { ...ours, name, check: spread.check };
      const wish = async (side: { name: string }) => ({ requests: side.name === name ? those : requests });
      const measured = await compareSides(bench, stage, { ours: many, theirs: one, wish });
      findings.push(
        ...measured.map((finding) => ({
          ...finding,
          title: `${finding.title}, ${interns} interns ${name}`,
        })),
      );
    }
    return findings;
  },
};
