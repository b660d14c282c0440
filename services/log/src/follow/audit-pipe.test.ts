import { execFileSync } from 'node:child_process';
import { mkdtemp, open, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openOf } from '../disk/file-handle.fixture.ts';
import { followPipe } from './audit-pipe.ts';
import { openSource } from './open-source.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'ori-pipe-')));
  path = join(folder, 'audit');
  execFileSync('mkfifo', [path]);
});
afterEach(() => rm(folder, { recursive: true }));

it('has no lines and is at its end while nobody writes', async () => {
  const source = await openSource(path, undefined);
  for (const _ of [1, 2]) {
    expect(await source.peek()).toEqual({ lines: [], position: undefined, isAtEnd: true });
    source.take();
  }
  await using _writer = await open(path, 'w');
  expect(await source.peek()).toEqual({ lines: [], position: undefined, isAtEnd: true });
  await source.close();
});

it('returns a line again until it is taken, once, and only when it is complete', async () => {
  const source = await followPipe(path);
  await using writer = await open(path, 'w');
  const lines = async () => (await source.peek()).lines.map(String);
  await writer.write('a\nb\nha');
  for (const _ of [1, 2]) expect(await lines()).toEqual(['a', 'b']);
  await writer.write('lf\n');
  expect(await lines()).toEqual(['a', 'b', 'half']);
  source.take();
  source.take();
  expect(await lines()).toEqual([]);
  await source.close();
});

it('keeps at most a few MiB that were not taken, and loses none of the rest', async () => {
  const source = await followPipe(path);
  const writer = await open(path, 'w');
  const line = 'x'.repeat(1023);
  const writing = writer.write(`${line}\n`.repeat(9 * 1024)).then(() => writer.close());
  let lines = 0;
  for (let most = 0; lines < 9 * 1024; await turn()) {
    const peeked = await source.peek();
    const again = peeked.isAtEnd ? peeked : await source.peek();
    if (!peeked.isAtEnd) expect(again.lines.length).toBe(peeked.lines.length);
    if (again.lines.length < 4 * 1024 && lines + again.lines.length < 9 * 1024) continue;
    most = Math.max(most, again.lines.length);
    expect(most).toBeLessThan(5 * 1024);
    lines += again.lines.length;
    source.take();
  }
  await writing;
  expect(lines).toBe(9 * 1024);
  await source.close();
});

it('reports a pipe that it cannot read, and leaves none open', async () => {
  const source = await followPipe(path);
  await source.close();
  await expect(source.peek()).rejects.toMatchObject({ code: 'EBADF' });
  expect(openOf(folder)).toEqual([]);
});
