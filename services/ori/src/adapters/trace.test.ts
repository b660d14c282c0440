import { parseTraceparent } from '@ori/http/traceparent';
import { expect, test } from 'vitest';
import { newTraceparent, renderTraceparent } from './trace.ts';

const ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

test('a trace that is passed on keeps its ids and flags, in version 00', () => {
  const given = parseTraceparent(`cc-${ID}-${SPAN}-02-what-comes-later`);
  expect(given && renderTraceparent(given)).toBe(`00-${ID}-${SPAN}-02`);
});

test('every new trace has ids of its own', () => {
  const [one, other] = [newTraceparent(), newTraceparent()];
  expect(parseTraceparent(renderTraceparent(one))).toEqual(one);
  expect(other.traceId).not.toBe(one.traceId);
  expect(other.parentId).not.toBe(one.parentId);
});
