import { expect, test, vi } from 'vitest';
import type { CallEnd } from '../replay/replay-store.ts';
import { Recorder } from './recorder.ts';

const bytes = (length: number, fill = 1): Uint8Array => new Uint8Array(length).fill(fill);

function record(act: (recorder: Recorder) => void, limits = { bytesMax: 10, noStore: false }): CallEnd {
  const settle = vi.fn<(end: CallEnd) => void>();
  const recorder = new Recorder(limits, settle);
  act(recorder);
  expect(settle).toHaveBeenCalledOnce();
  expect(recorder.isOver).toBe(true);
  return settle.mock.calls[0]?.[0] as CallEnd;
}

test('keeps no header of one connection, nor one that Connection names', () => {
  const headers = {
    connection: 'Close, X-Hop',
    'x-hop': '1',
    'x-own': '2',
    date: 'today',
    'set-cookie': 's',
    '': 'no name',
  };
  const end = record((recorder) => {
    recorder.begin(201, headers);
    recorder.end();
  });
  expect(end).toEqual({ status: 201, headers: { 'x-own': '2' }, body: bytes(0) });
});

test.each([
  ['no-store', 'lost'],
  ['private, No-Store', 'lost'],
  ['no-store,private', 'lost'],
  ['\tno-store\t', 'lost'],
  ['no-stored', 'kept'],
  ['no-store=1', 'kept'],
  ['xno-store', 'kept'],
  ['private', 'kept'],
])('Cache-Control: %s is %s', (cacheControl, expected) => {
  const end = record((recorder) => {
    recorder.begin(200, { 'cache-control': cacheControl });
    recorder.end();
  });
  expect(typeof end === 'object' ? 'kept' : end).toBe(expected);
});

test.each<[parts: number[], last: number | undefined, expected: number | string]>([
  [[], undefined, 0],
  [[], 10, 10],
  [[], 11, 'too_large'],
  [[4, 6], undefined, 10],
  [[4], 6, 10],
  [[4], 7, 'too_large'],
  [[4, 7], 1, 'too_large'],
])('of the parts %j and %j, keeps %j', (parts, last, expected) => {
  const end = record((recorder) => {
    recorder.begin(200, {});
    for (const length of parts) recorder.add(bytes(length));
    recorder.end(last === undefined ? undefined : bytes(last, 1));
  });
  expect(typeof end === 'object' ? end.body : end).toEqual(
    typeof expected === 'number' ? bytes(expected) : expected,
  );
});

test.each([
  [200, { 'content-length': '2' }, 'kept'],
  [200, { 'content-length': '3' }, 'lost'],
  [200, { 'content-length': '1' }, 'lost'],
  [200, { 'content-length': '9', 'content-encoding': 'gzip' }, 'kept'],
  [204, { 'content-length': '9' }, 'kept'],
  [304, { 'content-length': '9' }, 'kept'],
  [101, {}, 'lost'],
])('of a body of two bytes with status %j and %j, the end is %s', (status, headers, expected) => {
  const end = record((recorder) => {
    recorder.begin(status, headers);
    recorder.end(bytes(2));
  });
  expect(typeof end === 'object' ? 'kept' : end).toBe(expected);
});

test('copies a part, which may change, and nothing after the end', () => {
  const part = bytes(2);
  const end = record((recorder) => {
    recorder.begin(200, {});
    recorder.add(part);
    part.fill(9);
    recorder.end();
    recorder.add(bytes(1));
    recorder.lose();
    recorder.end();
  });
  expect(end).toMatchObject({ body: bytes(2) });
});

test('says whether an answer is kept', () => {
  const limits = { bytesMax: 1, noStore: false };
  const isKeptAfter = (act: (recorder: Recorder) => void) => {
    const recorder = new Recorder(limits, () => {});
    act(recorder);
    return recorder.isKept;
  };
  expect(isKeptAfter(() => {})).toBe(false);
  expect(isKeptAfter((recorder) => recorder.lose())).toBe(false);
  expect(isKeptAfter((recorder) => recorder.end(new Uint8Array(2)))).toBe(false);
  expect(isKeptAfter((recorder) => recorder.end())).toBe(true);
});
