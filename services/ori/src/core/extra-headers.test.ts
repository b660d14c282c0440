import { expect, it } from 'vitest';
import { CliError } from './errors.ts';
import { parseHeaders } from './extra-headers.ts';

it('accepts headers like curl', () => {
  expect(parseHeaders(['Accept: text/plain', 'x-empty:', 'X-A:b: c'])).toEqual({
    accept: 'text/plain',
    'x-empty': '',
    'x-a': 'b: c',
  });
});

it.each([
  'no colon',
  ': value',
  'a b: c',
  'a: b\r\nx-evil: 1',
  'Host: elsewhere',
  'Content-Length: 1',
  'Transfer-Encoding: chunked',
  'X-Ori-Invoke-User: mallory',
])('refuses %j', (line) => {
  expect(() => parseHeaders([line])).toThrow(CliError);
});

it('refuses a second header of a name, of which only one would be sent', () => {
  expect(() => parseHeaders(['X-A: 1', 'x-a: 2'])).toThrow(CliError);
});
