import { expect, it } from 'vitest';
import { parseStrictJson } from './strict-json.ts';

const LIMITS = { lengthMax: 12, depthMax: 2, valuesMax: 3 };
const parse = (text: string) => parseStrictJson(Buffer.from(text), LIMITS);

it.each([
  ['too long', '"12345678901"', '"1234567890"'],
  ['too deep', '[[[]]]', '[[]]'],
  ['with too many values', '[1,2,3,4]', '[1,2,3]'],
])('refuses a text %s before it is parsed', (_, beyond, within) => {
  expect(() => parse(beyond)).toThrow(expect.objectContaining({ code: 'beyond_limits' }));
  expect(() => parse(`${beyond.slice(0, -1)}x`)).toThrow(expect.objectContaining({ code: 'beyond_limits' }));
  expect(parse(within)).toEqual(JSON.parse(within));
});

it('counts no white space between tokens, and nothing within a string', () => {
  const space = ' \n\r\t'.repeat(100);
  expect(parse(`${space}[${space}"[{,\\"\\\\"${space}]${space}`)).toEqual(['[{,"\\']);
});
