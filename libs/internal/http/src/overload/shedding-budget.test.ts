import { expect, test } from 'vitest';
import { SheddingBudget } from './shedding-budget.ts';

function holders(budget: SheddingBudget) {
  const ended: string[] = [];
  const hold = (name: string, owner = name) => budget.hold(owner, () => ended.push(name));
  return { ended, hold };
}

test('ends the oldest holder for a new one', () => {
  const { ended, hold } = holders(new SheddingBudget(2, 100));
  hold('first');
  hold('second');
  expect(ended).toEqual([]);
  hold('third');
  expect(ended).toEqual(['first']);
});

test('ends the oldest of the owner that has most, by count and by amount', () => {
  const { ended, hold } = holders(new SheddingBudget(4, 100));
  hold('slow and honest');
  for (const name of ['a', 'b', 'c', 'd']) hold(name, 'flood');
  expect(ended).toEqual(['a']);
  hold('another');
  expect(ended).toEqual(['a', 'b']);
  const large = hold('large', 'flood');
  large.grow(101);
  expect(ended).toEqual(['a', 'b', 'c', 'large']);
});

test('ends as many as an amount needs, including the requester if it is the oldest', () => {
  const { ended, hold } = holders(new SheddingBudget(10, 100));
  const first = hold('first');
  const second = hold('second');
  first.grow(60);
  second.grow(40);
  expect(ended).toEqual([]);
  second.grow(1);
  expect(ended).toEqual(['first']);
  second.grow(60);
  expect(ended).toEqual(['first', 'second']);
});

test('reuses what was released, once', () => {
  const { ended, hold } = holders(new SheddingBudget(1, 100));
  const first = hold('first');
  first.grow(100);
  first.release();
  first.release();
  first.grow(50);
  hold('second').grow(100);
  expect(ended).toEqual([]);
});
