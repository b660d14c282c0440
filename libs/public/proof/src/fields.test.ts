import { expect, test } from 'vitest';
import {
  isBodySha256,
  isInternId,
  isMethod,
  isNonce,
  isPath,
  isTimestamp,
  isTimestampSeconds,
  isUser,
} from './fields.ts';

const BYTES = Array.from({ length: 0x110 }, (_, code) => String.fromCharCode(code));
const ALPHANUMERIC = /[A-Za-z0-9]/;

/** The characters that the predicate accepts in this place, out of the first 272. */
function taken(accepts: (character: string) => boolean): string {
  return BYTES.filter(accepts).join('');
}

test('an intern id starts with a letter or a digit, followed by letters, digits, _ and -', () => {
  expect(taken(isInternId)).toBe(BYTES.filter((character) => ALPHANUMERIC.test(character)).join(''));
  expect(taken((character) => isInternId(`a${character}`))).toBe(
    BYTES.filter((character) => ALPHANUMERIC.test(character) || '_-'.includes(character)).join(''),
  );
});

test('an intern id has 1 to 128 characters', () => {
  expect([0, 1, 128, 129].map((length) => isInternId('i'.repeat(length)))).toEqual([
    false,
    true,
    true,
    false,
  ]);
});

test('a user can contain every printable ASCII character except space and comma', () => {
  expect(taken(isUser)).toBe(
    BYTES.slice(0x21, 0x7f)
      .filter((character) => character !== ',')
      .join(''),
  );
});

test('a user has 1 to 255 characters', () => {
  expect([0, 1, 255, 256].map((length) => isUser('u'.repeat(length)))).toEqual([false, true, true, false]);
});

test('a path can contain every printable ASCII character except space, # and ?', () => {
  expect(taken((character) => isPath(`/${character}`))).toBe(
    BYTES.slice(0x21, 0x7f)
      .filter((character) => !'#?'.includes(character))
      .join(''),
  );
});

test('a path starts with a slash and has 1 to 2048 characters', () => {
  expect(isPath('')).toBe(false);
  expect(isPath('api')).toBe(false);
  expect([0, 2047, 2048].map((length) => isPath(`/${'a'.repeat(length)}`))).toEqual([true, true, false]);
});

test('a timestamp is digits without sign or leading zero, at most twelve', () => {
  for (const text of ['0', '1', '1789000000', '999999999999']) expect(isTimestamp(text), text).toBe(true);
  for (const text of ['', '00', '01', '-1', '+1', '1.0', '1e9', ' 1', '1 ', '1\n', '1000000000000', '١']) {
    expect(isTimestamp(text), text).toBe(false);
  }
});

test('a number is a timestamp exactly if its decimal text is one', () => {
  for (const seconds of [
    0,
    1,
    1789000000,
    999_999_999_999,
    1e12,
    -1,
    0.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1e21,
  ]) {
    expect(isTimestampSeconds(seconds), String(seconds)).toBe(isTimestamp(String(seconds)));
  }
});

test('a digest is 64 lower-case hex digits', () => {
  expect(isBodySha256('0123456789abcdef'.repeat(4))).toBe(true);
  for (const text of [
    'A'.repeat(64),
    'a'.repeat(63),
    'a'.repeat(65),
    'g'.repeat(64),
    `${'a'.repeat(64)}\n`,
  ]) {
    expect(isBodySha256(text), text).toBe(false);
  }
});

test('the last character of a nonce leaves no bit unused', () => {
  expect(taken((character) => isNonce(`${'-_09azAZ'.repeat(2)}abcde${character}`))).toBe('AQgw');
  expect(isNonce('A'.repeat(21))).toBe(false);
  expect(isNonce('A'.repeat(23))).toBe(false);
});

test('the only method is POST, in capitals', () => {
  expect(['POST', 'post', 'POST ', 'GET', ''].map(isMethod)).toEqual([true, false, false, false, false]);
});

test('a trailing line feed is not ignored', () => {
  expect([isInternId('a\n'), isUser('a\n'), isPath('/a\n'), isNonce(`${'A'.repeat(22)}\n`)]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
