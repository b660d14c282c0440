import { afterEach, expect, test, vi } from 'vitest';
import { warn } from './warning.ts';

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
