import { runContest } from '../contest.ts';
import type { Row } from '../row.ts';

/** An accepted call through the adapter of node:http, whose answer of 1 KiB is kept in memory, against one that is not kept. */
export const answersRow: Row = {
  name: 'answers',
  async run(bench) {
    const { answers, plain } = await runContest(bench, 'answers', ['answers', 'plain']);
    const costOf = (perSecond: readonly number[]) => perSecond.map((calls) => 1e6 / calls);
    return [
      {
        title: 'an accepted call',
        unit: 'CPU µs',
        ours: { name: 'answers kept', rounds: costOf(answers) },
        theirs: { name: 'not kept', rounds: costOf(plain) },
        mark: { atMost: 1.05 },
      },
    ];
  },
};
