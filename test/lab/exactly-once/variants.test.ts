import { expect, test } from 'vitest';
import { breakLibrary, VARIANTS } from './variants.ts';

test.each(Object.keys(VARIANTS))(
  '%s matches the current source of the guard that it breaks',
  async (name) => {
    await using broken = await breakLibrary(name);
    expect(broken.folder).toContain('ori-variant-');
  },
);
