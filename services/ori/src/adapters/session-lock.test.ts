import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withSessionLock } from './session-lock.ts';

const { signal } = new AbortController();
let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-lock-'));
  file = join(folder, 'ori', 'session.lock');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

it('runs one work at a time, within a process', async () => {
  let inside = 0;
  let most = 0;
  const work = async () => {
    inside += 1;
    most = Math.max(most, inside);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
  };
  await Promise.all([1, 2, 3].map(() => withSessionLock(file, signal, work)));
  expect(most).toBe(1);
});

it('is released when the work fails', async () => {
  await expect(withSessionLock(file, signal, () => Promise.reject(new Error('failed')))).rejects.toThrow(
    'failed',
  );
  expect(await withSessionLock(file, signal, () => Promise.resolve('next'))).toBe('next');
});

/** Another process, which runs this expression with the lock. */
const elsewhere = (work: string, waitSeconds: number) =>
  spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { withSessionLock } from ${JSON.stringify(new URL('./session-lock.ts', import.meta.url).href)};
       await withSessionLock(${JSON.stringify(file)}, new AbortController().signal, () => ${work}, ${waitSeconds})
         .catch(({ code }) => process.stdout.write(code));`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );

it('excludes another process, and is released when its holder is killed', async () => {
  const holder = elsewhere(
    // A promise that nothing can resolve would be collected, and the lock with it.
    `process.stdout.write('held') && new Promise((resolve) => setTimeout(resolve, 60_000))`,
    1,
  );
  await once(holder.stdout, 'data');
  const waiting = new AbortController();
  const refused = withSessionLock(file, waiting.signal, () => Promise.resolve('taken'));
  waiting.abort();
  await expect(refused).rejects.toMatchObject({ code: 'interrupted' });
  const next = withSessionLock(file, signal, () => Promise.resolve('taken'));
  holder.kill('SIGKILL');
  expect(await next).toBe('taken');
});

// As facebook/rocksdb#1780: a process that closes a file loses all its locks on it.
it('excludes another process while others wait in the process that has it', async () => {
  await withSessionLock(file, signal, async () => {
    const refused = withSessionLock(file, signal, () => Promise.resolve('taken'), 0);
    await expect(refused).rejects.toMatchObject({ code: 'session_busy' });
    expect(await text(elsewhere(`process.stdout.write('taken')`, 0).stdout)).toBe('session_busy');
  });
});

it.each([
  ['that has something else in it', () => writeFile(file, 'not a lock '.repeat(100))],
  // As one of root, after `sudo ori`.
  ['that it cannot open', () => mkdir(file)],
])('names a file %s', async (_, make) => {
  await mkdir(join(folder, 'ori'), { mode: 0o700 });
  await make();
  const refused = withSessionLock(file, signal, () => Promise.resolve('taken'));
  await expect(refused).rejects.toMatchObject({ code: 'session_file_unusable', facts: { file } });
});

it('leaves an empty file that only its owner can access', async () => {
  await withSessionLock(file, signal, async () => {});
  const { mode, size } = await lstat(file);
  expect([mode & 0o777, size]).toEqual([0o600, 0]);
});
