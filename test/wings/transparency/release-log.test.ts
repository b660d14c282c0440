import { execFile } from 'node:child_process';
import { appendFile, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createLogKeys, renderVkeys } from '@ori/tlog/log-keys';
import { expect, test } from 'vitest';
import { openRoom } from '../../env/room.ts';

const PROGRAM = new URL('../../../services/log/release-log.ts', import.meta.url).pathname;
const SEED = Buffer.alloc(32, 7).toString('base64');
const ORIGIN = 'ori.example/releases';

test('a recorded release verifies, and one that was changed, replaced or removed from the log does not', async () => {
  await using room = await openRoom('ori-releases');
  const at = (name: string) => join(room.directory, name);
  const log = (...words: string[]) =>
    promisify(execFile)(process.execPath, [PROGRAM, ...words], { cwd: room.directory });
  const record = (...names: string[]) =>
    log('record', 'releases', '--origin', ORIGIN, '--key-file', 'key', ...names);
  const verify = (...names: string[]) => log('verify', '--policy', 'policy', ...names);
  const keys = renderVkeys(createLogKeys(ORIGIN, SEED));
  await writeFile(at('key'), `${SEED}\n`);
  await writeFile(at('policy'), `log ${keys.log}\nlog ${keys.logMlDsa}\nquorum none\n`);

  const names = Array.from({ length: 5 }, (_, index) => `ori-${index}.tgz`);
  for (const name of names) await writeFile(at(name), name);
  const [first = '', ...rest] = names;
  await record(first, ...rest.slice(0, 2));
  expect((await record(...names, `${first}.tlog-proof`)).stdout).toBe('5 artifacts, 2 of them new\n');
  expect((await record(first)).stdout).toBe('5 artifacts, 0 of them new\n');
  expect((await verify(...names)).stdout).toContain(`ori-4.tgz: entry 4 of 5 in ${ORIGIN}`);
  expect(await readdir(at('releases/tile/0/000.p'))).toContain('5');
  await expect(log('record', 'releases', first)).rejects.toThrow('usage');

  await writeFile(at(first), 'another');
  await expect(verify(first)).rejects.toThrow('the entry is not leaf 0');
  await expect(record(first)).rejects.toThrow('was released with another content');
  await rename(at(first), at('renamed.tgz'));
  await rename(at(`${first}.tlog-proof`), at('renamed.tgz.tlog-proof'));
  await expect(verify('renamed.tgz')).rejects.toThrow('the entry is not leaf 0');

  const others = renderVkeys(createLogKeys(ORIGIN, SEED.replace('B', 'C')));
  await writeFile(at('other-policy'), `log ${others.log}\nlog ${others.logMlDsa}\nquorum none\n`);
  await expect(log('verify', '--policy', 'other-policy', 'ori-1.tgz')).rejects.toThrow(
    'no log of the policy has signed',
  );

  const entries = await readFile(at('releases/entries'), 'utf8');
  await appendFile(at('releases/entries'), `${'0'.repeat(64)}  ori-9.tgz\n`);
  await expect(record('ori-1.tgz')).rejects.toThrow('not those of the last checkpoint');
  await writeFile(at('releases/entries'), entries.replace('ori-2', 'ori-7'));
  await expect(record('ori-1.tgz')).rejects.toThrow('not those of the last checkpoint');
});
