import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { lockFolder } from './folder-lock.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-folder-lock-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('refuses a folder to a second process, and a second time to the same one', async () => {
  const path = join(folder, 'new/locked');
  const release = await lockFolder(path);
  await expect(lockFolder(`${path}/`)).rejects.toThrow(`in use by process ${process.pid}`);
  await release();
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  await once(child, 'spawn');
  await writeFile(`${path}.lock`, String(child.pid));
  await expect(lockFolder(path)).rejects.toThrow(`in use by process ${child.pid}`);
  child.kill();
  await once(child, 'exit');
  const again = await lockFolder(path);
  expect(await readFile(`${path}.lock`, 'utf8')).toBe(String(process.pid));
  await again();
});

it('is free after its last user crashed, even if that process had the id of this one', async () => {
  const path = join(folder, 'crashed');
  for (const owner of [String(process.pid), '', 'x', '-1']) {
    await writeFile(`${path}.lock`, owner);
    const release = await lockFolder(path);
    await expect(lockFolder(path)).rejects.toThrow('in use');
    await release();
    await release();
  }
});
