import { expect, test } from 'vitest';
import type { KeptAnswer } from '../replay-store.ts';
import { createRecords } from './records.ts';

const ANSWER: KeptAnswer = { status: 200, headers: { 'x-own': '1' }, body: Uint8Array.of(1) };
const MIB = 1024 * 1024;

/** Records, and a clock in seconds. */
function world() {
  let nowMs = 0;
  const records = createRecords(() => nowMs);
  return {
    records,
    at(seconds: number): void {
      nowMs = Math.round(seconds * 1000);
    },
    begin: (...nonces: string[]) => {
      for (const nonce of nonces) records.begin('int_1', nonce, 'ada');
    },
    end: (nonce: string, end: Parameters<typeof records.end>[2] = ANSWER) => records.end('int_1', nonce, end),
    endOf: (nonce: string) => records.of('int_1', nonce)?.end,
  };
}

test('remembers an answer for ten minutes after the call ended', () => {
  const { records, at, begin, end, endOf } = world();
  begin('a');
  at(100);
  expect(records.of('int_1', 'a')).toEqual({ user: 'ada', end: 'running' });
  end('a');
  at(699.999);
  expect(records.of('int_1', 'a')).toEqual({ user: 'ada', end: ANSWER });
  at(700);
  expect(endOf('a')).toBeUndefined();
  expect(records.size).toBe(0);
});

test('forgets in the order in which the calls ended', () => {
  const { records, at, begin, end, endOf } = world();
  begin('a', 'b', 'c');
  at(10);
  end('b');
  at(20);
  end('c');
  at(30);
  end('a');
  at(610);
  expect([endOf('a'), endOf('b'), endOf('c')]).toEqual([ANSWER, undefined, ANSWER]);
  at(620);
  expect([endOf('a'), endOf('c'), records.size]).toEqual([ANSWER, undefined, 1]);
  at(630);
  expect([endOf('a'), records.size]).toEqual([undefined, 0]);
  begin('d', 'e');
  end('d');
  at(640);
  end('e');
  at(1230);
  expect([endOf('d'), endOf('e'), records.size]).toEqual([undefined, ANSWER, 1]);
});

test('an answer that is lost before its time is not remembered for longer', () => {
  const { at, begin, end, endOf } = world();
  begin('a', 'b');
  end('a');
  at(300);
  end('b');
  end('a', 'lost');
  expect(endOf('a')).toBe('lost');
  at(600);
  expect([endOf('a'), endOf('b')]).toEqual([undefined, ANSWER]);
});

test('a running call is remembered for a day', () => {
  const { records, at, begin, end, endOf } = world();
  begin('a');
  at(10);
  begin('b');
  at(20);
  begin('c');
  at(86_399.999);
  expect(endOf('a')).toBe('running');
  end('b');
  at(86_400);
  expect(endOf('a')).toBeUndefined();
  expect([endOf('b'), endOf('c'), records.size]).toEqual([ANSWER, 'running', 2]);
  at(86_420);
  expect(endOf('c')).toBe('running');
  at(86_999.999);
  expect([endOf('b'), endOf('c'), records.size]).toEqual([undefined, undefined, 0]);
});

test('makes room when calls begin, once in a second', () => {
  const { records, at, begin, end } = world();
  at(1);
  begin('a', 'b');
  end('a');
  at(1.5);
  end('b');
  at(601);
  begin('c');
  expect(records.size).toBe(2);
  at(601.999);
  begin('d');
  expect(records.size).toBe(3);
  at(602);
  begin('e');
  expect(records.size).toBe(3);
});

test('keeps the calls of interns apart, and knows nothing of others', () => {
  const { records, begin, end, endOf } = world();
  records.end('int_1', 'a', ANSWER);
  expect(endOf('a')).toBeUndefined();
  begin('a');
  records.end('int_2', 'a', ANSWER);
  end('other');
  expect([endOf('a'), records.of('int_2', 'a'), records.size]).toEqual(['running', undefined, 1]);
  records.begin('int_2', 'a', 'grace');
  end('a', 'too_large');
  expect(records.of('int_2', 'a')).toEqual({ user: 'grace', end: 'running' });
  expect(endOf('a')).toBe('too_large');
});

test('an answer that younger ones of its person replaced, or that has no room, is lost', () => {
  const { begin, end, endOf } = world();
  begin('a', 'b', 'c', 'd');
  end('a', { ...ANSWER, body: new Uint8Array(20 * MIB) });
  end('b', { ...ANSWER, body: new Uint8Array(20 * MIB) });
  end('c', { ...ANSWER, body: new Uint8Array(33 * MIB) });
  const body = endOf('b');
  expect([endOf('a'), typeof body === 'object' && body.body.length, endOf('c')]).toEqual([
    'lost',
    20 * MIB,
    'lost',
  ]);
});

test('a person whose answers take all that they may loses none of another, who gets half of the rest', () => {
  const { records, at, begin, end, endOf } = world();
  begin('a', 'b', 'c');
  end('a');
  for (let count = 0; count < 200; count += 1) {
    records.begin('int_1', `m${count}`, 'mallory');
    end(`m${count}`, { ...ANSWER, body: new Uint8Array(MIB) });
  }
  end('b', { ...ANSWER, body: new Uint8Array(15 * MIB) });
  const isKept = (nonce: string) => typeof endOf(nonce) === 'object';
  expect(['a', 'b', 'm199', 'm0'].map(isKept)).toEqual([true, true, true, false]);
  // Room that was given back.
  at(601);
  expect(isKept('b')).toBe(false);
  end('c', { ...ANSWER, body: new Uint8Array(31 * MIB) });
  expect(isKept('c')).toBe(true);
});

test('an answer that has no room does not prolong how long the others take theirs', () => {
  const { records, at, begin, end, endOf } = world();
  begin('a', 'b');
  end('a', { ...ANSWER, body: new Uint8Array(20 * MIB) });
  at(300);
  end('b', { ...ANSWER, body: new Uint8Array(33 * MIB) });
  records.begin('int_1', 'c', 'grace');
  at(601);
  expect(endOf('b')).toBe('lost');
  end('c', { ...ANSWER, body: new Uint8Array(31 * MIB) });
  expect(typeof endOf('c')).toBe('object');
});
