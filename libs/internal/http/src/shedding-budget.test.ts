import { expect, test } from 'vitest';
import { SheddingBudget } from './shedding-budget.ts';

function holders(budget: SheddingBudget) {
  const ended: string[] = [];
  return { ended, hold: (name: string) => budget.hold(() => ended.push(name)) };
}

test('ends the oldest holder for a new one', () => {
  const { ended, hold } = holders(new SheddingBudget(2, 100));
  hold('first');
  hold('second');
  expect(ended).toEqual([]);
  hold('third');
  expect(ended).toEqual(['first']);
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
