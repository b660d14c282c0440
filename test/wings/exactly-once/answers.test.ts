import { expect, test } from 'vitest';
import { ANSWER_STORES, cutAnswers } from './answers.ts';

const NEVER = { unanswered: 0, twice: 0, wrong: 0, told: 0 };

test.each(ANSWER_STORES)(
  'in %s no call over a cut connection runs twice or stays unanswered',
  async (store) => {
    const { cut, killed } = await cutAnswers(store, {
      calls: 200,
      kills: store === 'memory' ? 2 : 8,
      seed: 'q',
    });
    expect(cut).toMatchObject({ ...NEVER, lost: 0 });
    expect(cut.kept).toBeGreaterThan(10);
    expect(cut.again).toBeGreaterThan(10);
    expect(cut.foreign).toBeGreaterThan(10);
    expect(killed).toMatchObject(NEVER);
    expect(killed.kills).toBeGreaterThan(0);
  },
);
