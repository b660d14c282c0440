import { runContest } from '../contest.ts';
import type { Row } from '../row.ts';

/** Verification with the engine for runtimes without OpenSSL, against its underlying library. */
export const verifyPortableRow: Row = {
  name: 'verify-portable',
  async run(bench) {
    const measured = await runContest(bench, 'verify-portable', ['portable', '@noble/curves']);
    return [
      {
        title: 'the signature',
        unit: 'per CPU s',
        ours: { name: 'portable', rounds: measured.portable },
        theirs: { name: '@noble/curves', rounds: measured['@noble/curves'] },
        mark: { atLeast: 0.9 },
      },
    ];
  },
};
