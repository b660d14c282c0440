import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '..');
const rows = [
  ...readFileSync(join(FOLDER, 'README.md'), 'utf8').matchAll(/^\| (.+) \| `([^`]+\.test\.ts)`: (.+) \|$/gm),
].map(([, promise = '', file = '', name = '']) => ({ promise, file, name }));

test('the README of the tests lists what one caller cannot do to others', () => {
  expect(rows.length).toBeGreaterThan(20);
});

test.each(rows)('a test backs the promise: $promise', ({ file, name }) => {
  const text = readFileSync(join(FOLDER, file), 'utf8');
  expect(text).toContain(name);
});
