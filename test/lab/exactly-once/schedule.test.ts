import { expect, test } from 'vitest';
import { createRandom } from './random.ts';
import { planSchedules } from './schedule.ts';

const REPERTOIRE = { one: ['kill', 'flush', 'freeze'], two: ['kill', 'flush'], three: ['promote'] };
const plan = (seed: string, count: Parameters<typeof planSchedules>[2] = 100) =>
  planSchedules(createRandom(seed), REPERTOIRE, count);

test('the same seed gives the same schedules, another seed others', () => {
  expect(plan('a')).toEqual(plan('a'));
  expect(plan('a')).not.toEqual(plan('b'));
});

test('every fault is injected equally often, in a lane that supports it', () => {
  const schedules = plan('a');
  const counts = new Map<string, number>();
  for (const { lane, fault } of schedules) {
    expect(REPERTOIRE[lane as keyof typeof REPERTOIRE]).toContain(fault);
    counts.set(fault, (counts.get(fault) ?? 0) + 1);
  }
  expect([...counts.values()]).toEqual([25, 25, 25, 25]);
});

test('each fault is injected the requested number of times, independently of other faults', () => {
  const counts = (asked: { rounds: number; atLeast: number }) => {
    const faults = plan('a', asked).map(({ fault }) => fault);
    return ['kill', 'flush', 'freeze', 'promote'].map((name) => faults.filter((it) => it === name).length);
  };
  expect(counts({ rounds: 1, atLeast: 0 })).toEqual([1, 1, 1, 1]);
  expect(counts({ rounds: 20, atLeast: 0 })).toEqual([20, 20, 20, 20]);
  expect(counts({ rounds: 20, atLeast: 100 })).toEqual([25, 25, 25, 25]);
});

test('random choices of one part do not affect those of another', () => {
  const one = createRandom('a');
  const other = createRandom('a');
  for (let draws = 0; draws < 10; draws += 1) other.derive('x').next();
  expect(one.next()).toBe(other.next());
  expect(one.derive('x').next()).not.toBe(one.derive('y').next());
});
