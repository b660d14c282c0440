import { expect, it } from 'vitest';
import { maskSecret } from './mask.ts';

it.each([
  [`sk-ori-v1-${'0'.repeat(60)}abcd`, 'sk-...abcd'],
  ['abcdefghijklmnopqrstuvwxyz01', 'abc...yz01'],
  ['abcdefghijklmnop', 'ab...op'],
  ['abcdefgh', 'a...h'],
  ['abcdefg', '...g'],
  ['abc', '...'],
  ['', '...'],
])('masks %j as %j', (secret, label) => {
  expect(maskSecret(secret)).toBe(label);
});

it('never shows more than a quarter of a secret', () => {
  for (let length = 0; length < 100; length++) {
    const shown = maskSecret('x'.repeat(length)).length - 3;
    expect(shown).toBeLessThanOrEqual(length / 4);
  }
});
