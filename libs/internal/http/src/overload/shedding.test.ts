import { expect, test } from 'vitest';
import { Shedding } from './shedding.ts';

const sender = (network: string, credential?: string) => ({ network, credential: () => credential });

/** How many of 1,000 strangers are admitted. */
function admitted(shedding: Shedding): number {
  let count = 0;
  for (let at = 0; at < 1000; at++) if (shedding.admits(sender(`n${at}`, `c${at}`), false, 0)) count += 1;
  return count;
}

function overloaded(): Shedding {
  const shedding = new Shedding(500);
  for (let times = 0; times < 20; times++) shedding.observe(500, true);
  return shedding;
}

test('one pause of the process, which is late twice, sheds nobody', () => {
  const shedding = new Shedding(500);
  for (let times = 0; times < 5; times++) {
    shedding.observe(3000, false);
    shedding.observe(3000, true);
    shedding.observe(0, true);
  }
  expect(admitted(shedding)).toBe(1000);
});

test('a connection that waits on while the process runs is overload', () => {
  const shedding = new Shedding(500);
  shedding.observe(500, false);
  expect(admitted(shedding)).toBe(1000);
  shedding.observe(750, false);
  expect(admitted(shedding)).toBe(50);
});

test('three long waits are overload, in a row', () => {
  const shedding = new Shedding(500);
  for (let times = 0; times < 2; times++) shedding.observe(500, true);
  shedding.observe(0, true);
  for (let times = 0; times < 2; times++) shedding.observe(500, true);
  expect(admitted(shedding)).toBe(1000);
  shedding.observe(500, true);
  expect(admitted(shedding)).toBe(50);
});

test('while waits are long, one in twenty strangers is admitted; then more with each short one', () => {
  const shedding = overloaded();
  expect(admitted(shedding)).toBe(50);
  shedding.observe(250, true);
  shedding.observe(0, false);
  expect(admitted(shedding)).toBe(50);
  shedding.observe(124, true);
  expect(admitted(shedding)).toBeCloseTo(55, -1);
  for (let times = 0; times < 10; times++) shedding.observe(49, true);
  expect(admitted(shedding)).toBeCloseTo(255, -1);
  shedding.observe(125, true);
  expect(admitted(shedding)).toBeCloseTo(204, -1);
  shedding.observe(250, true);
  expect(admitted(shedding)).toBeCloseTo(102, -1);
  for (let times = 0; times < 50; times++) shedding.observe(0, true);
  expect(admitted(shedding)).toBe(1000);
});

test('while half of what may be in progress is, only known callers are admitted, if anybody is known', () => {
  const shedding = new Shedding(500);
  expect(shedding.admits(sender('b'), true, 0)).toBe(true);
  shedding.served(sender('a'), 0);
  expect(shedding.admits(sender('b'), true, 0)).toBe(false);
  expect(shedding.admits(sender('a'), true, 0)).toBe(true);
  expect(shedding.admits(sender('b'), false, 0)).toBe(true);
});

test('who was served in the last ten minutes goes first: by network or by credential', () => {
  const shedding = overloaded();
  shedding.served(sender('a', 'token'), 0);
  expect(admitted(shedding)).toBe(50);
  expect(shedding.admits(sender('a'), false, 0)).toBe(true);
  expect(shedding.admits(sender('b', 'token'), false, 600_000)).toBe(true);
  expect(shedding.admits(sender('a', 'token'), false, 600_001)).toBe(false);
});

test('who was refused for its own fault is a stranger until it is served again', () => {
  const shedding = overloaded();
  shedding.served(sender('a', 'token'), 0);
  shedding.refused(sender('a', 'token'));
  expect(shedding.admits(sender('a', 'token'), false, 0)).toBe(false);
  shedding.served(sender('a', 'other'), 0);
  shedding.served(sender('b', 'token'), 0);
  expect(shedding.admits(sender('a'), false, 0)).toBe(true);
  expect(shedding.admits(sender('c', 'token'), false, 0)).toBe(true);
});

test('a known caller has two requests a second, up to five at once; beyond that it is a stranger', () => {
  const shedding = overloaded();
  shedding.served(sender('a'), 0);
  const burst = (now: number) =>
    Array.from({ length: 8 }, () => shedding.admits(sender('a'), false, now)).filter(Boolean).length;
  expect(burst(0)).toBe(5);
  expect(burst(1000)).toBe(2);
  expect(burst(60_000)).toBe(5);
});

test('remembers 16,384 of each, and forgets who was served longest ago', () => {
  const shedding = overloaded();
  for (let at = 0; at <= 16_384; at++) {
    shedding.served(sender(`n${at}`), 0);
    if (at === 0) shedding.served(sender('first'), 0);
    else shedding.served(sender('n0'), 0);
  }
  expect(shedding.admits(sender('n0'), false, 0)).toBe(true);
  expect(shedding.admits(sender('first'), false, 0)).toBe(false);
});
