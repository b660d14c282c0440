import { expect, test } from 'vitest';
import { breakLibrary, VARIANTS } from './variants.ts';

test.each(Object.keys(VARIANTS))('%s finds the guard that it breaks, where it is now', async (name) => {
  await using broken = await breakLibrary(name);
  expect(broken.folder).toContain('ori-variant-');
});
