import { expect, it } from 'vitest';
import {
  decodeAnswer,
  decodeCommitments,
  encodeCommitments,
  LOOKUP_BYTES_MAX,
  LOOKUP_MAX,
} from './lookup.ts';

const bytes = Buffer.alloc(32, 0xa1);
const hex = bytes.toString('hex');
const asked = (...commitments: readonly unknown[]) => decodeCommitments(JSON.stringify({ commitments }));
const answered = (...leaves: readonly unknown[]) => decodeAnswer(JSON.stringify({ found: { ...leaves } }));

it('reads the commitments of a request, as many as a log takes, in no more bytes than it takes', () => {
  const request = encodeCommitments(Array(LOOKUP_MAX).fill(bytes));
  expect(request.length).toBeLessThanOrEqual(LOOKUP_BYTES_MAX);
  expect(decodeCommitments(request)).toEqual(Array(LOOKUP_MAX).fill(hex));
  expect(asked(...Array(LOOKUP_MAX + 1).fill(hex))).toBeUndefined();
});

it.each([`0${hex}`, `${hex}0`, hex.slice(1), hex.toUpperCase(), 1, null, [hex]])(
  'takes a request with %j for malformed',
  (wrong) => expect(asked(hex, wrong)).toBeUndefined(),
);

it('reads the leaves of an answer', () => {
  const leaves = [
    { index: 0, entry: '0a' },
    { index: 7, entry: '01fe' },
  ];
  expect(answered(...leaves)).toEqual({ found: { ...leaves } });
  expect(answered()).toEqual({ found: {} });
});

it.each([
  ...[-1, 0.5, 2 ** 53, '0', null].map((index) => ({ index, entry: '0a' })),
  ...['0a1', 'x0a', '0ax', '0A', '', 10, ['0a'], null].map((entry) => ({ index: 0, entry })),
  ...[null, 5, '0a', [], {}],
])('takes an answer with the leaf %j for malformed', (wrong) =>
  expect(answered({ index: 0, entry: '0a' }, wrong)).toBeUndefined(),
);

it.each([
  '',
  '{',
  'null',
  '5',
  '"x"',
  '[]',
  '{}',
  '{"commitments":5,"found":5}',
  '{"commitments":{},"found":null}',
  '{"found":""}',
])('takes %j for neither a request nor an answer', (json) =>
  expect([decodeCommitments(json), decodeAnswer(json)]).toEqual([undefined, undefined]),
);
