import { spawnSync } from 'node:child_process';
import { afterEach, expect, it, vi } from 'vitest';
import { filter } from './jq.ts';

const HAS_JQ = spawnSync('jq', ['--version']).status === 0;

afterEach(() => void vi.unstubAllEnvs());

it.runIf(HAS_JQ)('prints what jq makes of the answer, strings without quotes', async () => {
  expect(await filter('.[].name', [{ name: 'ada' }, { name: 'b\nc' }])).toEqual(['ada', 'b', 'c']);
  await expect(filter('.[', [])).rejects.toMatchObject({ code: 'usage' });
});

it('says that there is no jq', async () => {
  vi.stubEnv('PATH', '/nowhere');
  await expect(filter('.', [])).rejects.toMatchObject({ facts: { detail: expect.stringContaining('jq') } });
});
