import { expect, test } from 'vitest';
import { createBodies } from './bodies.ts';

const MIB = 1024 * 1024;

test('gives each body as it was, or nothing of it, and always the last', () => {
  const bodies = createBodies();
  const put = Array.from({ length: 60 }, (_, index) => {
    const body = new Uint8Array((index * 7919 * 1021) % (5 * MIB)).fill(index);
    const place = Number(bodies.put(body));
    expect(bodies.get(place, body.length)?.length).toBe(body.length);
    return { body, place };
  });
  const isThere = put.map(({ body, place }) => {
    const got = bodies.get(place, body.length);
    expect(got === undefined || Buffer.compare(got, body) === 0).toBe(true);
    return got !== undefined;
  });
  const first = isThere.indexOf(true);
  expect(first).toBeGreaterThan(0);
  expect(isThere.slice(first)).not.toContain(false);
});

test('keeps 64 MiB of bodies and no more', () => {
  const bodies = createBodies();
  const body = new Uint8Array(16 * MIB);
  const places = Array.from({ length: 5 }, () => Number(bodies.put(body)));
  expect(places.map((place) => bodies.get(place, body.length)?.length)).toEqual([
    undefined,
    ...Array.from({ length: 4 }, () => 16 * MIB),
  ]);
  expect(bodies.put(new Uint8Array(64 * MIB + 1))).toBeUndefined();
});

test('a body is a copy, when it is put and when it is given', () => {
  const bodies = createBodies();
  const mine = Uint8Array.of(1, 2);
  const place = Number(bodies.put(mine));
  mine.fill(9);
  bodies.get(place, 2)?.fill(9);
  expect(bodies.get(place, 2)).toEqual(Uint8Array.of(1, 2));
  expect(bodies.get(Number(bodies.put(new Uint8Array(0))), 0)).toEqual(new Uint8Array(0));
});
