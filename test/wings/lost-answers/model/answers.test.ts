import { expect, test } from 'vitest';
import { explore } from '../../../lab/model/explore.ts';
import { type BrokenAnswer, createAnswerModel } from './answers.ts';

test('no call runs twice, and none runs of which its client was told that it was not received', () => {
  const { states, violation } = explore(createAnswerModel());
  expect(violation).toBeUndefined();
  expect(states).toBeGreaterThan(1000);
});

test.each<BrokenAnswer>([
  'question-spends-nothing',
  'void-stamped-as-the-question',
  'no-fence-for-questions',
  'void-known-is-certain',
  'record-forgotten-with-the-nonce',
  'late-answer-trusted',
  'record-after-the-spend',
])('and each guard is needed: %s', (guard) => {
  const { violation } = explore(createAnswerModel(new Set([guard])));
  expect(violation?.invariant).toBe('not-received-is-true');
});
