import { execFileSync } from 'node:child_process';
import { appendFile, copyFile, mkdtemp, open, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openSource } from './open-source.ts';
import type { Position } from './position.ts';
import type { Source } from './source.ts';

let folder: string;
let path: string;
let sources: Source[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-source-'));
  path = join(folder, 'audit.jsonl');
  await writeFile(path, '');
});
afterEach(async () => {
  for (const source of sources) await source.close();
  sources = [];
  await rm(folder, { recursive: true });
});

async function follow(position?: Position): Promise<Source> {
  const source = await openSource(path, position);
  sources.push(source);
  return source;
}

/** A line that begins like those of the signer. */
const line = (second: number, name: string) =>
  `{"time":"2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z","name":"${name}"}`;
const write = (...lines: string[]) => appendFile(path, lines.map((one) => `${one}\n`).join(''));

/** Takes all lines. @returns their names, and the last position */
async function takeAll(source: Source): Promise<{ names: string[]; position: Position | undefined }> {
  const names: string[] = [];
  let position: Position | undefined;
  for (;;) {
    const peeked = await source.peek();
    for (const one of peeked.lines) names.push(/"name":"(\w+)"/.exec(one.toString())?.[1] ?? one.toString());
    position = peeked.position ?? position;
    source.take();
    if (peeked.isAtEnd) return { names, position };
  }
}

it('returns the same lines again until they are taken, and a line only when it is complete', async () => {
  const source = await follow();
  await write(line(1, 'a'));
  await appendFile(path, '{"time":"half');
  for (const _ of [1, 2]) expect((await source.peek()).lines.map(String)).toEqual([line(1, 'a')]);
  source.take();
  expect((await source.peek()).lines).toEqual([]);
  await appendFile(path, '"}\n');
  expect((await takeAll(source)).names).toEqual(['{"time":"half"}']);
});

it('follows rotations by name, including lines that were still written to the former file', async () => {
  const source = await follow();
  await write(line(1, 'a'));
  await takeAll(source);
  await rename(path, `${path}-1`);
  await appendFile(`${path}-1`, `${line(2, 'b')}\n`);
  await write(line(3, 'c'));
  await rename(path, `${path}-2`);
  await write(line(4, 'd'));
  expect((await takeAll(source)).names).toEqual(['b', 'c', 'd']);
});

it('continues after a restart, whatever the files are called by then', async () => {
  const first = await follow();
  await write(line(1, 'a'), line(2, 'b'));
  const { position } = await takeAll(first);
  await write(line(3, 'c'));
  await rename(path, `${path}.1`);
  await write(line(4, 'd'));
  await copyFile(`${path}.1`, `${path}.restored`);
  await rm(`${path}.1`);
  expect((await takeAll(await follow(position))).names).toEqual(['c', 'd']);
});

it('reads no file twice if the clock was set back between two of them', async () => {
  const source = await follow();
  await write(line(50, 'a'));
  await takeAll(source);
  await rename(path, `${path}-1`);
  await write(line(10, 'b'));
  const { names, position } = await takeAll(source);
  expect(names).toEqual(['b']);
  await rename(path, `${path}-2`);
  await write(line(60, 'c'));
  expect((await takeAll(await follow(position))).names).toEqual(['c']);
});

it('orders files by their first line with a time, also where a crash tore the one before', async () => {
  await writeFile(`${path}-1`, `${line(1, 'a')}\n`);
  await write('","name":"torn"}', line(2, 'b'));
  expect((await takeAll(await follow())).names).toEqual(['a', 'torn', 'b']);
});

it('follows a file that was copied and truncated', async () => {
  const source = await follow();
  await write(line(1, 'a'));
  await takeAll(source);
  await write(line(2, 'b'));
  await copyFile(path, `${path}.1`);
  await truncate(path);
  await write(line(3, 'c'));
  expect((await takeAll(source)).names).toEqual(['b', 'c']);
});

it('does not continue if the last line read was rewritten, or if its file is gone', async () => {
  const source = await follow();
  await write(line(1, 'a'), line(2, 'b'));
  const { position } = await takeAll(source);
  await writeFile(path, `${line(1, 'a')}\n${line(2, 'x')}\n`);
  await expect((await follow(position)).peek()).rejects.toMatchObject({ code: 'audit_file_changed' });
  await writeFile(path, `${line(3, 'c')}\n`);
  await expect((await follow(position)).peek()).rejects.toMatchObject({ code: 'audit_file_missing' });
});

it('is not at its end while a file is missing that was not read yet', async () => {
  await rm(path);
  const source = await follow();
  expect((await source.peek()).isAtEnd).toBe(false);
});

it('reads a FIFO, and returns a line again until it is taken', async () => {
  await rm(path);
  execFileSync('mkfifo', [path]);
  const source = await follow();
  const writer = await open(path, 'w');
  await writer.write(`${line(1, 'a')}\n${line(2, 'b')}\n{"ti`);
  for (const _ of [1, 2]) expect((await source.peek()).lines).toHaveLength(2);
  source.take();
  await writer.write('me"}\n');
  expect((await takeAll(source)).names).toEqual(['{"time"}']);
  await writer.close();
});
