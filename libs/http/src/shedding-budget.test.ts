import { expect, test } from 'vitest';
import { SheddingBudget } from './shedding-budget.ts';

function holders(budget: SheddingBudget) {
  const ended: string[] = [];
  return { ended, hold: (name: string) => budget.hold(() => ended.push(name)) };
}

test('ends the one that has held longest when one more comes', () => {
  const { ended, hold } = holders(new SheddingBudget(2, 100));
  hold('first');
  hold('second');
  expect(ended).toEqual([]);
  hold('third');
  expect(ended).toEqual(['first']);
});

test('ends as many as it takes for an amount, and the one that asks where it is the oldest', () => {
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

test('has room again for what was given back, once', () => {
  const { ended, hold } = holders(new SheddingBudget(1, 100));
  const first = hold('first');
  first.grow(100);
  first.release();
  first.release();
  first.grow(50);
  hold('second').grow(100);
  expect(ended).toEqual([]);
});
