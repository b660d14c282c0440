import { expect, test } from 'vitest';
import { isPath, isTimestamp, isTimestampSeconds, isUser } from './fields.ts';

const CHARACTERS = Array.from({ length: 0x110 }, (_, code) => String.fromCharCode(code));
const PRINTABLE = CHARACTERS.slice(0x21, 0x7f);

// The other alphabets are patterns in SPEC.md, and compared with it in spec.test.ts.
test.each<[string, string, (character: string) => boolean]>([
  ['user', ',', isUser],
  ['path', '#?', (character) => isPath(`/${character}`)],
])('a %s can contain every printable ASCII character except space and %s', (_field, without, accepts) => {
  expect(CHARACTERS.filter(accepts)).toEqual(PRINTABLE.filter((character) => !without.includes(character)));
});

test.each([0, 1789000000, 999_999_999_999, 1e12, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e21])(
  '%d is a timestamp exactly if its decimal text is one',
  (seconds) => {
    expect(isTimestampSeconds(seconds)).toBe(isTimestamp(String(seconds)));
  },
);
