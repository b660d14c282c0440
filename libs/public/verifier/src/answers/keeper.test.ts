import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AnswerStore, CallEnd } from '../replay/replay-store.ts';
import { createKeeper } from './keeper.ts';

const POLICY = { internId: 'int_1', maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false };
const MIB = 1024 * 1024;
const SECOND = 1000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  // First, because it puts back what was there before: of a timer, the one that is not real.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A keeper whose store takes time, and what it was asked to keep: the nonce, and an answer as its size. */
function world(answer: (attempt: number) => Promise<void> | void = async () => undefined) {
  const kept: [nonce: string, end: number | string][] = [];
  const keep: AnswerStore['keep'] = ({ nonce }, end) => {
    kept.push([nonce, typeof end === 'string' ? end : end.body.byteLength]);
    return answer(kept.length);
  };
  const keeper = createKeeper({ keep, ask: () => 'lost' });
  return {
    kept,
    give: (nonce: string, end: CallEnd, user = 'ada') => keeper({ policy: POLICY, user, nonce }, end),
  };
}

const answerOf = (length: number, headers = {}): CallEnd => ({
  status: 200,
  headers,
  body: new Uint8Array(length),
});

test('has a store that takes time lose the oldest of a person when theirs need more than 32 MiB', () => {
  const { kept, give } = world();
  for (const nonce of ['A', 'B', 'C', 'D']) give(nonce, answerOf(8 * MIB));
  give('E', answerOf(16 * MIB));
  expect(kept.map(([nonce, end]) => (end === 'lost' ? `${nonce} lost` : nonce))).toEqual(
    'A,B,C,D,A lost,E,B lost,C lost'.split(','),
  );
});

// REPLAY-STORES.md, Answers: a fair share.
test('a person whose answers take all that they may loses none of another, who gets half of the rest', () => {
  const { kept, give } = world();
  give('A', answerOf(MIB));
  for (let count = 0; count < 200; count += 1) give(`m${count}`, answerOf(MIB), 'mallory');
  for (const nonce of ['B', 'C', 'D']) give(nonce, answerOf(4 * MIB));
  const lost = kept.filter(([, end]) => end === 'lost').map(([nonce]) => nonce);
  expect(lost.length).toBeGreaterThan(160);
  expect(lost.filter((nonce) => !nonce.startsWith('m'))).toEqual([]);
});

test('an answer that is larger than all of that is lost, and the next ones count as before', () => {
  const { kept, give } = world();
  give('A', answerOf(33 * MIB));
  expect(kept.at(-1)).toEqual(['A', 'lost']);
  give('B', answerOf(20 * MIB));
  give('C', answerOf(20 * MIB));
  expect(kept.at(-1)).toEqual(['B', 'lost']);
});

test('counts the headers, and 512 bytes for the record', () => {
  const each = 16 * MIB - 1024;
  const { kept, give } = world();
  const headers = { 'x-own': 'v'.repeat(507) };
  give('A', answerOf(each, headers));
  give('B', answerOf(each, headers));
  expect(kept).toHaveLength(2);
  const more = world();
  more.give('A', answerOf(each, headers));
  more.give('B', answerOf(each, { ...headers, y: '' }));
  expect(more.kept[2]).toEqual(['A', 'lost']);
});

test('after ten minutes the store has forgotten an answer by itself', () => {
  const { kept, give } = world();
  give('A', answerOf(20 * MIB));
  vi.advanceTimersByTime(599 * SECOND);
  give('B', answerOf(20 * MIB));
  expect(kept.at(-1)).toEqual(['A', 'lost']);
  vi.advanceTimersByTime(600 * SECOND);
  give('C', answerOf(20 * MIB));
  expect(kept.slice(3)).toEqual([['C', 20 * MIB]]);
  give('D', answerOf(1));
  give('E', answerOf(20 * MIB));
  expect(kept.at(-1)).toEqual(['C', 'lost']);
});

test('what is no answer needs no room', () => {
  const { kept, give } = world();
  give('A', answerOf(32 * MIB - 512));
  for (let count = 0; count < 10; count += 1) give('B', 'lost');
  expect(kept).not.toContainEqual(['A', 'lost']);
});

test.each(['throws', 'rejects'])(
  'asks again for as long as an answer is kept if the store %s, then warns',
  async (how) => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const { kept, give } = world(() => {
      if (how === 'throws') throw new Error('down');
      return Promise.reject(new Error('down'));
    });
    give('A', answerOf(1));
    for (const [pauseMs, attempts] of [
      [100, 2],
      [1000, 3],
      [5000, 4],
      [30_000, 5],
      [30_000, 6],
    ] as const) {
      await vi.advanceTimersByTimeAsync(pauseMs - 1);
      expect(kept).toHaveLength(attempts - 1);
      await vi.advanceTimersByTimeAsync(1);
      expect(kept).toHaveLength(attempts);
    }
    expect(warned).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(600 * SECOND);
    expect(warned).toHaveBeenCalledExactlyOnceWith(
      'down',
      expect.objectContaining({ code: 'answer_not_kept' }),
    );
    expect(kept).toHaveLength(23);
    expect(vi.getTimerCount()).toBe(0);
  },
);

test('does not keep a process from ending that waits for a store for long', async () => {
  const waits = vi.spyOn(globalThis, 'setTimeout');
  const { give } = world(() => Promise.reject(new Error('down')));
  give('A', answerOf(1));
  await vi.advanceTimersByTimeAsync(10 * SECOND);
  const isHolding = waits.mock.results.map(({ value }) => value.hasRef());
  expect(isHolding).toEqual([true, true, true, false]);
});

test('stops asking when the store has it', async () => {
  const { kept, give } = world((attempt) =>
    attempt < 3 ? Promise.reject(new Error('down')) : Promise.resolve(),
  );
  give('A', answerOf(1));
  await vi.advanceTimersByTimeAsync(60 * SECOND);
  expect(kept).toHaveLength(3);
});

test('does not bring back an answer that is to be lost', async () => {
  const { kept, give } = world((attempt) =>
    attempt === 1 ? Promise.reject(new Error('down')) : Promise.resolve(),
  );
  give('A', answerOf(20 * MIB));
  await vi.advanceTimersByTimeAsync(50);
  give('B', answerOf(20 * MIB));
  expect(kept.at(-1)).toEqual(['A', 'lost']);
  await vi.advanceTimersByTimeAsync(60 * SECOND);
  expect(kept.slice(1).filter(([nonce]) => nonce === 'A')).not.toContainEqual(['A', 40 * MIB]);
});

test('an answer that becomes lost while the store takes it is lost afterwards', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { kept, give } = world((attempt) =>
    attempt === 1 ? promise : attempt === 3 ? Promise.reject(new Error('down')) : Promise.resolve(),
  );
  give('A', answerOf(20 * MIB));
  give('B', answerOf(20 * MIB));
  resolve();
  await vi.advanceTimersByTimeAsync(60 * SECOND);
  expect(kept.map(([nonce, end]) => [nonce, typeof end])).toEqual([
    ['A', 'number'],
    ['B', 'number'],
    ['A', 'string'],
    ['A', 'string'],
  ]);
});

test('a store that has an answer at once bounds itself', () => {
  const { kept, give } = world(() => undefined);
  for (const nonce of ['A', 'B', 'C']) give(nonce, answerOf(20 * MIB));
  expect(kept.map(([nonce]) => nonce)).toEqual(['A', 'B', 'C']);
});
