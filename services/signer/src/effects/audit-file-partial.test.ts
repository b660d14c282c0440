import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { openAuditFile } from './audit-file.ts';

/**
 * The behaviour of each next write: at most this many bytes, a failure, or blocked until released. Without a plan: a
 * whole write.
 */
const plan: (number | 'fails' | Promise<void>)[] = [];
let writes = 0;
let written = '';

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>();
  type Done = (error: Error | null, bytesWritten?: number) => void;
  const planned = async (fd: number, bytes: Buffer, at: number, done: Done) => {
    writes += 1;
    written = String(bytes.subarray(at));
    const step = plan.shift();
    if (step === 'fails') return done(Object.assign(new Error('no space'), { code: 'ENOSPC' }));
    if (typeof step === 'object') await step;
    fs.write(fd, bytes, at, typeof step === 'number' ? step : bytes.length - at, null, done);
  };
  return { ...fs, write: planned };
});

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-audit-'));
  path = join(folder, 'audit.jsonl');
});
afterEach(() => rm(folder, { recursive: true }));

test('a line that the kernel accepts in parts is written completely before it is acknowledged', async () => {
  const log = await openAuditFile(path);
  plan.push(3, 1, 2);
  await log.append('0123456789');
  expect(await readFile(path, 'utf8')).toBe('0123456789\n');
  await log.close();
});

test('a torn line is not acknowledged, and the next one does not continue it', async () => {
  const log = await openAuditFile(path);
  plan.push(4, 'fails');
  const failed = { dependency: 'audit', cause: { code: 'ENOSPC' } };
  await expect(log.append('0123456789')).rejects.toMatchObject(failed);
  await log.append('next');
  await log.append('one more');
  expect(await readFile(path, 'utf8')).toBe('0123\nnext\none more\n');
  await log.close();
});

test('a line that an earlier process left torn is not continued', async () => {
  await writeFile(path, '0123');
  const log = await openAuditFile(path);
  await log.append('next');
  await log.append('one more');
  expect(await readFile(path, 'utf8')).toBe('0123\nnext\none more\n');
  await log.close();
});

test('a torn line is not continued after the same file is opened again', async () => {
  const log = await openAuditFile(path);
  plan.push(4, 'fails');
  await expect(log.append('0123456789')).rejects.toMatchObject({ dependency: 'audit' });
  await log.reopen();
  await log.append('next');
  expect(await readFile(path, 'utf8')).toBe('0123\nnext\n');
  await log.close();
});

test('lines of one turn of the event loop, and those during a write, share a write', async () => {
  const log = await openAuditFile(path);
  writes = 0;
  const first = log.append('0');
  // Later than every promise that is fulfilled already.
  await new Promise<void>((resolve) => process.nextTick(resolve));
  const together = [first, ...['1', '2', '3'].map((line) => log.append(line))];
  await first;
  expect([writes, written]).toEqual([1, '0\n1\n2\n3\n']);
  await Promise.all([...together, ...['4', '5'].map((line) => log.append(line))]);
  expect(writes).toBe(2);
  expect(await readFile(path, 'utf8')).toBe('0\n1\n2\n3\n4\n5\n');
  await log.close();
});

test('a write that fails half way refuses all its lines, repeats none and leaves no empty line', async () => {
  const log = await openAuditFile(path);
  plan.push(5, 'fails');
  const together = ['0123', '4567', '89ab'].map((line) => log.append(line));
  for (const outcome of await Promise.allSettled(together)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { dependency: 'audit' } });
  }
  await log.append('next');
  expect(await readFile(path, 'utf8')).toBe('0123\nnext\n');
  await log.close();
});

test('a write that does not end in 400 ms refuses its lines and the queued ones, which are not written later', async () => {
  const log = await openAuditFile(path);
  const { promise: thaw, resolve } = Promise.withResolvers<void>();
  plan.push(thaw);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const stuck = log.append('stuck');
  while (plan.length > 0) await setImmediate();
  const refused = vi.fn();
  const lines = [stuck, log.append('behind')].map((line) => line.catch(refused));
  await vi.advanceTimersByTimeAsync(399);
  expect(refused).not.toHaveBeenCalled();
  // The queued one began within an interval of the timer.
  await vi.advanceTimersByTimeAsync(51);
  await Promise.all(lines);
  const error = expect.objectContaining({ dependency: 'audit' });
  expect(refused.mock.calls).toEqual([[error], [error]]);
  vi.useRealTimers();
  await expect(log.check()).rejects.toMatchObject({ dependency: 'audit' });
  resolve();
  await log.append('next');
  expect(await readFile(path, 'utf8')).toBe('stuck\nnext\n');
  await log.close();
});

test('after a failed write, only a successful one makes the file ready again', async () => {
  const log = await openAuditFile(path);
  plan.push('fails', 'fails');
  await expect(log.append('lost')).rejects.toMatchObject({ dependency: 'audit' });
  await expect(log.check()).rejects.toMatchObject({ dependency: 'audit' });
  await log.check();
  await log.append('next');
  expect((await readFile(path, 'utf8')).split('\n').filter(Boolean)).toEqual(['next']);
  await log.close();
});

test('a write that never ends does not delay the stop', async () => {
  const log = await openAuditFile(path);
  plan.push(new Promise(() => {}));
  await expect(log.append('stuck')).rejects.toMatchObject({ dependency: 'audit' });
  await log.close();
});
