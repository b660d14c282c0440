import { expect, test } from 'vitest';
import { createRing } from './ring.ts';

/** A sixteenth of a mebibyte: less to copy. */
const UNIT = 64 * 1024;

test('gives each answer as it was, or nothing of it, and always the last', () => {
  const ring = createRing((size) => size <= 64 * UNIT);
  const put = Array.from({ length: 60 }, (_, index) => {
    const body = new Uint8Array((index * 7919 * 1021) % (5 * UNIT)).fill(index);
    const answer = { status: 200 + index, headers: { 'x-index': `${'ü'.repeat(index)}${index}` }, body };
    const place = Number(ring.put(answer));
    expect(ring.get(place)?.headers).toEqual(answer.headers);
    return { answer, place };
  });
  const isThere = put.map(({ answer, place }) => {
    const got = ring.get(place);
    if (got === undefined) return false;
    expect({ ...got, body: '' }).toEqual({ ...answer, body: '' });
    expect(Buffer.compare(got.body, answer.body)).toBe(0);
    return true;
  });
  const first = isThere.indexOf(true);
  expect(first).toBeGreaterThan(0);
  expect(isThere.slice(first)).not.toContain(false);
});

test('keeps what it may and no more', () => {
  const ring = createRing((size) => size <= 64 * UNIT);
  const answerOf = (bytes: number) => ({ status: 200, headers: {}, body: new Uint8Array(bytes) });
  const places = Array.from({ length: 5 }, () => Number(ring.put(answerOf(15 * UNIT))));
  expect(places.map((place) => ring.get(place)?.body.length)).toEqual([
    undefined,
    ...Array.from({ length: 4 }, () => 15 * UNIT),
  ]);
  // Two lengths, and `200` with two bytes for each character.
  const most = 64 * UNIT - 8 - 6;
  expect(ring.put(answerOf(most + 1))).toBeUndefined();
  expect(ring.get(Number(ring.put(answerOf(most))))?.body.length).toBe(most);
});

test('has room for every character of the headers', () => {
  const ring = createRing(() => true);
  const body = new Uint8Array(10);
  for (let count = 0; count < 60; count += 1) {
    const headers = { 'x-own': '€'.repeat(count * 97) };
    expect(ring.get(Number(ring.put({ status: 200, headers, body })))).toStrictEqual({
      status: 200,
      headers,
      body,
    });
  }
});

test('an answer is a copy, when it is put and when it is given', () => {
  const ring = createRing(() => true);
  const body = Uint8Array.of(1, 2);
  const place = Number(ring.put({ status: 200, headers: {}, body }));
  body.fill(9);
  ring.get(place)?.body.fill(9);
  expect(ring.get(place)).toEqual({ status: 200, headers: {}, body: Uint8Array.of(1, 2) });
});

test('grows no more once it replaced an answer, though it may', () => {
  let most = 2048;
  const ring = createRing((size) => size <= most);
  const answerOf = (bytes: number) => ({ status: 200, headers: {}, body: new Uint8Array(bytes) });
  const places = Array.from({ length: 4 }, () => Number(ring.put(answerOf(700))));
  most = 8192;
  expect(ring.put(answerOf(3000))).toBeUndefined();
  const last = Number(ring.put(answerOf(700)));
  expect([...places, last].map((place) => ring.get(place)?.body.length)).toEqual([
    undefined,
    undefined,
    undefined,
    700,
    700,
  ]);
});
