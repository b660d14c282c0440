import { execFileSync } from 'node:child_process';
import {
  appendFile,
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  realpath,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openOf } from '../disk/file-handle.fixture.ts';
import { followFile, type Source } from './audit-files.ts';
import type { Position } from './position.ts';

let folder: string;
let path: string;
let sources: Source[] = [];

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'ori-source-')));
  path = join(folder, 'audit.jsonl');
  await writeFile(path, '');
});
afterEach(async () => {
  for (const source of sources) await source.close();
  sources = [];
  expect(openOf(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});

async function follow(position?: Position): Promise<Source> {
  const source = await followFile(path, position);
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

it('follows a file that longer copies replace, as rsync does, and reads to its end one that is gone', async () => {
  const replace = async (to: string, ...lines: string[]) => {
    await writeFile(join(folder, '.copy'), lines.map((one) => `${one}\n`).join(''));
    await rename(join(folder, '.copy'), to);
  };
  const source = await follow();
  await write(line(1, 'a'));
  expect((await takeAll(source)).names).toEqual(['a']);
  await appendFile(path, `${line(2, 'b')}\n`);
  await replace(path, line(1, 'a'), line(2, 'b'), line(3, 'c'));
  expect((await takeAll(source)).names).toEqual(['b', 'c']);
  await replace(`${path}-1`, line(1, 'a'), line(2, 'b'), line(3, 'c'), line(4, 'd'));
  await replace(path, line(5, 'e'));
  expect((await takeAll(source)).names).toEqual(['d', 'e']);
  await write(line(6, 'f'));
  await replace(path, line(7, 'g'));
  expect((await takeAll(source)).names).toEqual(['f', 'g']);
  await replace(path, line(7, 'x'));
  await rm(`${path}-1`);
  expect((await takeAll(source)).names).toEqual(['x']);
});

it('does not continue in a copy that lacks the last line read', async () => {
  const source = await follow();
  await write(line(1, 'a'), line(2, 'b'));
  await takeAll(source);
  await writeFile(join(folder, '.copy'), `${line(1, 'a')}\n`);
  await rename(join(folder, '.copy'), path);
  await expect(source.peek()).rejects.toMatchObject({ code: 'audit_file_changed' });
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

it('refuses a pipe, whose lines a restart would lose, in place of the file and after it', async () => {
  await rm(path);
  execFileSync('mkfifo', [path]);
  const error = { code: 'audit_file_missing', message: expect.stringContaining('no regular file') };
  await expect((await follow()).peek()).rejects.toMatchObject(error);
  await writeFile(`${path}-1`, `${line(1, 'a')}\n`);
  await expect((await follow()).peek()).rejects.toMatchObject(error);
});

it('reports that no file is there, until one is', async () => {
  await rm(path);
  const source = await follow();
  await expect(source.peek()).rejects.toMatchObject({ code: 'audit_file_missing' });
  await writeFile(path, '');
  expect((await source.peek()).isAtEnd).toBe(true);
});

/** Renames the file, and begins the next with a line. */
async function rotate(to: string, ...lines: string[]): Promise<void> {
  await rename(path, to);
  await write(...lines);
}

it('is at its end while a file has no line yet, also where the file before was just renamed', async () => {
  const source = await follow();
  expect(await source.peek()).toMatchObject({ lines: [], position: undefined, isAtEnd: true });
  await write(line(1, 'a'));
  expect((await takeAll(source)).names).toEqual(['a']);
  await rename(path, `${path}-1`);
  expect((await takeAll(source)).names).toEqual([]);
  await writeFile(path, 'torn');
  await appendFile(`${path}-1`, `${line(2, 'b')}\n`);
  expect((await takeAll(source)).names).toEqual(['b']);
  await appendFile(path, `\n${line(3, 'c')}\n`);
  expect((await takeAll(source)).names).toEqual(['torn', 'c']);
  expect(openOf(folder)).toEqual([path]);
});

it('is not at its end while there is a next file', async () => {
  const source = await follow();
  await write(line(1, 'a'));
  await takeAll(source);
  await write(line(2, 'b'));
  await rotate(`${path}-1`, line(3, 'c'));
  expect(await source.peek()).toMatchObject({ lines: [Buffer.from(line(2, 'b'))], isAtEnd: false });
  expect((await takeAll(source)).names).toEqual(['b', 'c']);
});

it('reads a file in parts, and finds its place again in any', async () => {
  const long = (at: number) => line(at % 60, `n${at}`.padEnd(3000, 'x'));
  const lines = Array.from({ length: 700 }, (_, at) => long(at));
  await write(...lines);
  const source = await follow();
  const { lines: part, isAtEnd, position } = await source.peek();
  expect([isAtEnd, part.map(String)]).toEqual([false, lines.slice(0, part.length)]);
  expect(part.length).toBeGreaterThan(100);
  const again = await follow(position);
  const rest = await takeAll(again);
  expect(rest.names).toHaveLength(700 - part.length);
  expect((await takeAll(source)).names).toHaveLength(700);
  expect((await takeAll(await follow(rest.position))).names).toEqual([]);
});

it('refuses a line of more than a MiB, and reads on from none', async () => {
  await write(line(1, 'a'));
  await appendFile(path, 'x'.repeat(1024 * 1024 - 1));
  const source = await follow();
  expect((await takeAll(source)).names).toEqual(['a']);
  await appendFile(path, 'x');
  await expect(source.peek()).rejects.toMatchObject({ code: 'audit_file_changed' });
  await rotate(`${path}-1`, line(2, 'b'));
  await expect(source.peek()).rejects.toMatchObject({ code: 'audit_file_changed' });
  expect(openOf(folder)).toEqual([`${path}-1`]);
});

it.each([
  ['.gz', false],
  ['-1.xz', false],
  ['.zst', false],
  ['.bz2', false],
  ['.draft', false],
  ['.1.tmp', false],
  ['gz', true],
  ['.gz.1', true],
])('of the files beside it, takes one whose name ends in %s for a rotated one: %s', async (end, isRead) => {
  await writeFile(`${path}${end}`, `${line(1, 'a')}\n`);
  await write(line(2, 'b'));
  expect((await takeAll(await follow())).names).toEqual(isRead ? ['a', 'b'] : ['b']);
});

it('takes no folder, no link to nothing and no file of another name for a rotated one', async () => {
  await mkdir(`${path}-1`);
  await symlink(join(folder, 'nothing'), `${path}-2`);
  await writeFile(join(folder, 'other.jsonl'), `${line(1, 'a')}\n`);
  await writeFile(join(folder, `x-${path.split('/').at(-1)}`), `${line(1, 'a')}\n`);
  await write(line(2, 'b'));
  expect((await takeAll(await follow())).names).toEqual(['b']);
});

it('keeps no file open that it cannot read', async () => {
  await symlink('/proc/self/mem', `${path}-1`);
  await write(line(2, 'b'));
  const source = await follow();
  await expect(source.peek()).rejects.toMatchObject({ code: 'EIO' });
  expect(openOf(`/proc/${process.pid}/mem`)).toEqual([]);
  await rm(`${path}-1`);
  expect((await takeAll(source)).names).toEqual(['b']);
});

it('reports a file beside it that it cannot open', async () => {
  await symlink(`${path}-1`, `${path}-1`);
  await write(line(2, 'b'));
  await writeFile(`${path}-0`, `${line(1, 'a')}\n`);
  const source = await follow();
  await expect(source.peek()).rejects.toMatchObject({ code: 'ELOOP' });
  expect(openOf(folder)).toEqual([]);
  await rm(`${path}-1`);
  expect((await takeAll(source)).names).toEqual(['a', 'b']);
});

it('reads a file once that is there twice', async () => {
  await writeFile(`${path}-1`, `${line(1, 'a')}\n`);
  await copyFile(`${path}-1`, `${path}-2`);
  await write(line(2, 'b'));
  const source = await follow();
  expect((await takeAll(source)).names).toEqual(['a', 'b']);
  await rename(path, `${path}-3`);
  await copyFile(`${path}-3`, path);
  expect((await takeAll(source)).names).toEqual([]);
});

it('reads files in the order of their times, whatever their names, and none that was begun before', async () => {
  for (const [at, second] of [3, 1, 4, 2].entries())
    await writeFile(`${path}-${at}`, `${line(second, `n${second}`)}\n`);
  await writeFile(path, `half${line(0, 'torn')}\n${line(9, 'n9')}\n`);
  const source = await follow();
  expect((await takeAll(source)).names).toEqual(['n1', 'n2', 'n3', 'n4', 'torn', 'n9']);
  await writeFile(`${path}-0`, `${line(5, 'older')}\n`);
  await rotate(`${path}-9`, line(10, 'n10'));
  expect((await takeAll(source)).names).toEqual(['n10']);
});

it('follows files without times in the order of their names at its path', async () => {
  await write('first');
  const source = await follow();
  await takeAll(source);
  await writeFile(`${path}-0`, `${line(1, 'older')}\n`);
  await rotate(`${path}-1`, line(2, 'b'));
  expect((await takeAll(source)).names).toEqual(['b']);
});

it('remembers the latest files only, and reads none of them again', async () => {
  const source = await follow();
  await write(line(59, 'n0'));
  await takeAll(source);
  let position: Position | undefined;
  for (let at = 1; at <= 34; at++) {
    await rotate(`${path}-${at}`, line(59 - at, `n${at}`));
    const taken = await takeAll(source);
    expect(taken.names).toEqual([`n${at}`]);
    position = taken.position;
    await rm(`${path}-${at - 2}`, { force: true });
  }
  expect(position?.done).toHaveLength(32);
  expect((await takeAll(await follow(position))).names).toEqual([]);
});

const [A, B] = [line(1, 'a'), line(2, 'b')];

it.each<[string, (content: string) => string]>([
  ['is shorter', (content) => content.slice(0, -1)],
  ['has another last line', (content) => content.replace(B, line(2, 'x'))],
  ['has the line at another place', () => `${A}\n${B}\n${'x'.repeat(B.length)} `],
  ['has no line there', () => `${A}\n`.padEnd(A.length + 2 * B.length + 3, 'x')],
])('does not continue in a file that %s', async (_what, rewrite) => {
  const middle = 'm'.repeat(B.length);
  await write(A, middle, B);
  const { position } = await takeAll(await follow());
  await writeFile(path, rewrite(`${A}\n${middle}\n${B}\n`));
  await expect((await follow(position)).peek()).rejects.toMatchObject({ code: 'audit_file_changed' });
});

it('does not continue while it runs if what it read was rewritten', async () => {
  const source = await follow();
  await write(A, B);
  await takeAll(source);
  const content = await readFile(path, 'utf8');
  await writeFile(path, `${content.replace(B, line(2, 'x'))}${line(3, 'c')}\n`);
  await expect(source.peek()).rejects.toMatchObject({ code: 'audit_file_changed' });
});

it('does not continue while it runs if the time of what was rewritten was put back', async () => {
  const source = await follow();
  await write(A, B);
  await takeAll(source);
  await source.peek();
  const times = join(folder, 'times');
  execFileSync('touch', ['-r', path, times]);
  await writeFile(path, `${A}\n${line(2, 'x')}\n`);
  execFileSync('touch', ['-r', times, path]);
  await expect(source.peek()).rejects.toMatchObject({ code: 'audit_file_changed' });
});

it('continues at the beginning of a file of which it has read nothing', async () => {
  const source = await follow();
  await write(A);
  const first = await takeAll(source);
  const position = { ...(first.position as Position), offset: 0, last: '' };
  expect((await takeAll(await follow(position))).names).toEqual(['a']);
});
