import { expect, it } from 'vitest';
import { parseSubmission } from './submission.ts';

const hash = (fill: number) => Buffer.alloc(32, fill);
const lines = (count: number) =>
  Array.from({ length: count }, (_, at) => `${hash(at).toString('base64')}\n`).join('');

it.each([0, 1, 63])('reads a proof of %i hashes', (count) => {
  expect(parseSubmission(`old 12\n${lines(count)}\nthe note\n\nits signatures\n`)).toEqual({
    old: 12,
    path: Array.from({ length: count }, (_, at) => hash(at)),
    note: 'the note\n\nits signatures\n',
  });
});

it.each([
  ['nothing', ''],
  ['no empty line', 'old 12\n'],
  ['no size', `\nnote`],
  ['another word', 'new 12\n\nnote'],
  ['a size with a leading zero', 'old 012\n\nnote'],
  ['64 hashes', `old 12\n${lines(64)}\nnote`],
  ['a hash that is too short', `old 12\n${Buffer.alloc(31).toString('base64')}\n\nnote`],
  ['a hash that is not base64', `old 12\n${lines(1)}!\n\nnote`],
])('refuses a submission with %s', (_what, body) => {
  expect(parseSubmission(body)).toBeUndefined();
});
