import { runContest } from '../contest.ts';
import type { Row } from '../row.ts';

/** `verifier.verify` of version 2 over 1 KiB with a memory store, against the bare signature. */
export const verifyRow: Row = {
  name: 'verify',
  async run(bench) {
    const { verify, raw } = await runContest(bench, 'verify', ['verify', 'raw']);
    const ours = { name: 'verify', rounds: verify };
    const theirs = { name: 'raw', rounds: raw };
    return [{ title: 'the signature alone', unit: 'per CPU s', ours, theirs, mark: { atLeast: 0.88 } }];
  },
};
