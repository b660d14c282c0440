import { afterEach, expect, test, vi } from 'vitest';
import { HandlerError, messageOf, warn } from './warning.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

test('warns on the console where the runtime has no process warnings', () => {
  const written = vi.spyOn(console, 'warn').mockReturnValue(undefined);
  vi.stubGlobal('process', {});
  warn('key_set_empty', 'no key');
  expect(written.mock.calls).toEqual([[expect.stringMatching(/key_set_empty.*no key/)]]);
});

test('tells an error and its causes in one line', () => {
  const refused = new Error('connect\u2028\n\x1b[31mrefused');
  expect(messageOf(new Error('no keys', { cause: refused }))).toBe('no keys: connect [31mrefused');
  expect(messageOf('text')).toBe('not an Error');
});

test('does not tell what a handler threw, which may quote the request', () => {
  expect(messageOf(new HandlerError(new Error('"secret" is not valid JSON')))).toBe('the handler threw');
});

test('tells three causes at most, and 500 characters', () => {
  const endless: Error = new Error('again');
  endless.cause = endless;
  expect(messageOf(endless)).toBe('again: again: again: again');
  expect(messageOf(new Error('x'.repeat(501)))).toBe('x'.repeat(500));
});
