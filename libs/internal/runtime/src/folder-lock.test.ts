import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
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
  await expect(lockFolder(`${path}/`)).rejects.toThrow('is in use by another process');
  await release();
  await release();
  const program = `import { lockFolder } from ${JSON.stringify(import.meta.resolve('./folder-lock.ts'))};
    await lockFolder(${JSON.stringify(path)});
    process.stdout.write('locked');
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  await expect(lockFolder(path)).rejects.toThrow('is in use by another process');
  child.kill('SIGKILL');
  await once(child, 'exit');
  await (await lockFolder(path))();
});

it('says that the path is too long', async () => {
  await expect(lockFolder(join(folder, 'x'.repeat(100)))).rejects.toThrow('.lock is too long for a socket');
});

it('is free after its last user crashed, whoever has the id of that process now', async () => {
  const path = join(folder, 'crashed');
  await writeFile(`${path}.lock`, String(process.ppid));
  const release = await lockFolder(path);
  await expect(lockFolder(path)).rejects.toThrow('is in use');
  await release();
});
