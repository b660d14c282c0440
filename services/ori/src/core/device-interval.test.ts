import { expect, it } from 'vitest';
import { nextIntervalSeconds, type PollAnswer } from './device-interval.ts';

const PENDING = 'authorization_pending';

it.each<[PollAnswer[], number[]]>([
  [
    [PENDING, PENDING],
    [5, 5],
  ],
  [
    ['slow_down', PENDING, 'slow_down'],
    [10, 10, 15],
  ],
  [
    ['slow_down', 'none', PENDING],
    [10, 20, 20],
  ],
  [
    ['none', 'none', 'none', 'none', 'none', PENDING],
    [10, 20, 40, 60, 60, 60],
  ],
])('after %j an interval of 5 s is %j', (answers, intervals) => {
  let seconds = 5;
  const after = answers.map((answer) => {
    seconds = nextIntervalSeconds(seconds, answer);
    return seconds;
  });
  expect(after).toEqual(intervals);
});

it('does not shorten an interval that the issuer itself made long', () => {
  expect(nextIntervalSeconds(3600, 'none')).toBe(3600);
});
