import { expect, test } from 'vitest';
import { isMatch } from './if-none-match.ts';

test.each(['"a"', 'W/"a"', '"b", "a"', '"b",W/"a" ', '*'])('%s matches the cached tag', (header) => {
  expect(isMatch(header, '"a"')).toBe(true);
});

test.each([undefined, '', '"b"', 'a', '"A"', '"a', '"b" "a"', 'w/"a"'])('%s does not match it', (header) => {
  expect(isMatch(header, '"a"')).toBe(false);
});
