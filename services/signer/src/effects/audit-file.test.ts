import { execFileSync } from 'node:child_process';
import { constants } from 'node:fs';
import { chmod, mkdtemp, open, readdir, readFile, readlink, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { explainFailure } from '@ori/http/explain-failure';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DependencyError } from '../core/dependency-error.ts';
import { openAuditFile } from './audit-file.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-audit-'));
  path = join(folder, 'audit.jsonl');
});
afterEach(() => rm(folder, { recursive: true }));

const content = () => readFile(path, 'utf8');
const lines = (count: number, length = 10) =>
  Array.from({ length: count }, (_, index) => `${index}`.padEnd(length, 'x'));

test.each(['kernel', 'disk'] as const)(
  'a line is in the file when its append resolves (%s)',
  async (sync) => {
    const log = await openAuditFile(path, sync);
    for (const line of lines(3)) {
      expect(await log.append(line)).toMatchObject({ line });
      expect((await content()).endsWith(`${line}\n`)).toBe(true);
    }
    await log.close();
  },
);

test('is checked without a write while writes succeed', async () => {
  const log = await openAuditFile(path);
  await log.check();
  await log.append('line');
  await log.check();
  expect(await content()).toBe('line\n');
  await log.close();
});

test('many lines at once are each written once, in order', async () => {
  const log = await openAuditFile(path);
  const all = lines(5000, 500);
  await Promise.all(all.map((line) => log.append(line)));
  expect(await content()).toBe(`${all.join('\n')}\n`);
  await log.close();
});

test('the file is created for its owner to write and its group to read, and keeps its mode and content', async () => {
  const first = await openAuditFile(path);
  await first.append('one');
  await first.close();
  expect((await stat(path)).mode & 0o777).toBe(0o640 & ~process.umask());
  await chmod(path, 0o600);
  const second = await openAuditFile(path);
  await second.append('two');
  await second.close();
  // The first line might have been torn.
  expect(await content()).toBe('one\n\ntwo\n');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('after a rotation, lines go to the new file, and none is lost or torn', async () => {
  const log = await openAuditFile(path);
  const all = lines(2000, 200);
  const written = all.slice(0, 1000).map((line) => log.append(line));
  await rename(path, `${path}.1`);
  const reopened = log.reopen();
  written.push(...all.slice(1000).map((line) => log.append(line)));
  await Promise.all([...written, reopened]);
  await log.append('last');
  const [former, current] = [await readFile(`${path}.1`, 'utf8'), await content()];
  expect(former + current).toBe(`${[...all, 'last'].join('\n')}\n`);
  expect(current).toContain('last\n');
  await log.close();
});

test('a rotation that fails keeps the former file', async () => {
  const log = await openAuditFile(path);
  await log.append('one');
  await rename(folder, `${folder}.away`);
  await expect(log.reopen()).rejects.toMatchObject({ dependency: 'audit' });
  await log.check();
  await log.append('two');
  await rename(`${folder}.away`, folder);
  expect(await content()).toBe('one\ntwo\n');
  await log.close();
});

test('no descriptor stays open after rotations and the end', async () => {
  const opened = async () => {
    const targets = (await readdir('/proc/self/fd')).map((fd) =>
      readlink(`/proc/self/fd/${fd}`).catch(() => ''),
    );
    return (await Promise.all(targets)).filter((target) => target === path).length;
  };
  const log = await openAuditFile(path);
  await Promise.all([log.reopen(), log.reopen(), log.reopen()]);
  await log.append('line');
  expect(await opened()).toBe(1);
  await log.close();
  expect(await opened()).toBe(0);
});

test('a file that cannot be opened is refused', async () => {
  const nowhere = join(folder, 'missing', 'audit.jsonl');
  await expect(openAuditFile(nowhere)).rejects.toMatchObject({
    dependency: 'audit',
    message: `the audit file "${nowhere}" cannot be opened (ENOENT)`,
  });
});

test('lines that cannot be written are not acknowledged, and readiness fails', async () => {
  const log = await openAuditFile('/dev/full');
  const outcomes = await Promise.allSettled(lines(3).map((line) => log.append(line)));
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({
      status: 'rejected',
      reason: { dependency: 'audit', cause: { code: 'ENOSPC' } },
    });
  await expect(log.check()).rejects.toBeInstanceOf(DependencyError);
  await log.close();
});

test('a deleted file refuses lines until it is reopened', async () => {
  const log = await openAuditFile(path);
  await log.check();
  await rm(path);
  const failure = await log.check().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(DependencyError);
  expect(explainFailure(failure)).toContain('send SIGHUP');
  await log.reopen();
  await log.check();
  await log.close();
});

test('a FIFO without a reader is refused as an audit file, without delaying the start', async () => {
  execFileSync('mkfifo', [path]);
  await expect(openAuditFile(path)).rejects.toMatchObject({ dependency: 'audit' });
});

test('a FIFO whose reader stops or disconnects refuses lines, and accepts them when it is read again', async () => {
  execFileSync('mkfifo', [path]);
  const reader = () => open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const still = await reader();
  const log = await openAuditFile(path);
  const full = async () => {
    for (;;) await log.append('x'.repeat(4000));
  };
  await expect(full()).rejects.toMatchObject({ dependency: 'audit' });
  const { buffer, bytesRead } = await still.read(Buffer.alloc(1024 * 1024));
  expect(buffer.subarray(0, bytesRead).at(-1)).toBe(0x0a);
  await log.append('read again');
  await still.close();
  await expect(log.append('nobody there')).rejects.toMatchObject({ dependency: 'audit' });
  const next = await reader();
  await log.append('somebody there');
  expect((await next.read()).buffer.toString('utf8')).toContain('somebody there\n');
  await next.close();
  await log.close();
});
