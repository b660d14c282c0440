import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { VERSION } from './user-agent.ts';

it('is the version of the package', async () => {
  const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(VERSION).toBe(manifest.version);
});
