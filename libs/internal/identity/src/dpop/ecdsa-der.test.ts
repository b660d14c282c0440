import { expect, test } from 'vitest';
import { derOf } from './ecdsa-der.ts';

const number = (start: string, end = '') =>
  `${start}${'11'.repeat(32 - (start.length + end.length) / 2)}${end}`;

test.each([
  ['as it is', number('7f'), `0220${number('7f')}`],
  ['with a zero before a set sign bit', number('80'), `022100${number('80')}`],
  ['without leading zeros', number('000012'), `021e${number('000012').slice(4)}`],
  [
    'without leading zeros but the one before a set sign bit',
    number('0080'),
    `022000${number('0080').slice(2)}`,
  ],
  ['of 1', '01'.padStart(64, '0'), '020101'],
  ['of 0, which no signature has', '00'.repeat(32), '020100'],
])('writes a number %s', (_, hex, expected) => {
  const der = derOf(Buffer.from(hex + number('22'), 'hex')).toString('hex');
  const other = `0220${number('22')}`;
  const length = ((expected.length + other.length) / 2).toString(16).padStart(2, '0');
  expect(der).toBe(`30${length}${expected}${other}`);
});
