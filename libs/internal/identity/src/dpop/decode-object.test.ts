import { expect, test } from 'vitest';
import { decodeObject } from './decode-object.ts';

const encoded = (content: string | Uint8Array) => Buffer.from(content).toString('base64url');
const object = encoded('{"a":1}');

test('decodes an object', () => {
  expect(decodeObject(object)).toEqual({ a: 1 });
});

test.each([
  ['nothing', ''],
  ['something before it', `!${object}`],
  ['padding', `${encoded('{"a":12}')}=`],
  ['a line feed after it', `${object}\n`],
  ['text that is no UTF-8', encoded(Buffer.from('{"a":"\xff"}', 'latin1'))],
  ['no JSON', encoded('{')],
  ['null', encoded('null')],
  ['a list', encoded('[]')],
  ['a number', encoded('1')],
])('refuses %s', (_, part) => {
  expect(() => decodeObject(part)).toThrow();
});
