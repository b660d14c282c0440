import { appendFile, mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTree } from '@ori/tlog/tree';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fileHandles, openOf, pathOf } from './file-handle.fixture.ts';
import { type Appended, openJournal } from './journal.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'ori-journal-')));
  path = join(folder, 'journal');
});
afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true });
});

const entry = (fill: number) => Buffer.alloc(97, fill);
const at = (offset: number) => ({ audit: { file: 'f', offset, last: 'l', done: [] } });
const appended = (...fills: number[]): Appended => ({
  entries: fills.map(entry),
  positions: at(10 * (fills.at(-1) ?? 0)),
});
const [FIRST, SECOND, THIRD] = [appended(1, 2), appended(3), appended(4)];
const treeOf = (...fills: number[]) => {
  const tree = openTree();
  for (const fill of fills) tree.append(entry(fill));
  return tree;
};

async function written() {
  const { journal } = await openJournal(path);
  await journal.append(FIRST);
  await journal.append(SECOND);
  return journal;
}

/** What a restart reads: the leaves of the tree it begins with, and the records since. */
async function reread() {
  const { journal, edge, positions, records } = await openJournal(path);
  expect(journal.bytes).toBe((await stat(path)).size);
  await journal.close();
  return { size: edge.size, positions, records };
}

const failOnce = async (method: 'write' | 'truncate' | 'datasync' | 'sync') =>
  vi.spyOn(await fileHandles(), method).mockRejectedValueOnce(new Error('EIO'));

it('is empty at first, and its name is durable before anything is appended', async () => {
  const handles = await fileHandles();
  const synced: unknown[] = [];
  vi.spyOn(handles, 'sync').mockImplementation(async function (this: typeof handles) {
    synced.push(pathOf(this.fd));
  });
  const { journal, edge, positions, records } = await openJournal(path);
  expect([journal.bytes, edge.size, positions, records, synced]).toEqual([0, 0, {}, [], [folder]]);
  await journal.close();
  expect(openOf(folder)).toEqual([]);
});

it('returns the appended records in order, each with its positions', async () => {
  const journal = await written();
  expect(journal.bytes).toBe((await stat(path)).size);
  await journal.close();
  expect(await reread()).toEqual({ size: 0, positions: {}, records: [FIRST, SECOND] });
});

it.each([1, 40, 200])(
  'removes a last record that is torn %i bytes before its end, and appends after it',
  async (bytes) => {
    await (await written()).close();
    const content = await readFile(path);
    await writeFile(path, content.subarray(0, content.length - bytes));
    const { journal, records } = await openJournal(path);
    expect(records).toEqual([FIRST]);
    expect(journal.bytes).toBe((await stat(path)).size);
    await journal.append(THIRD);
    await journal.close();
    expect((await reread()).records).toEqual([FIRST, THIRD]);
  },
);

/** Changes the byte that is so far from the end. */
async function damage(fromEnd: number): Promise<void> {
  const content = await readFile(path);
  const place = content.length - fromEnd;
  content[place] = (content[place] ?? 0) ^ 1;
  await writeFile(path, content);
}

it('removes a last record whose bytes are there in part only, also if its end is', async () => {
  await (await written()).close();
  await damage(50);
  expect((await reread()).records).toEqual([FIRST]);
});

it('does not open if a record before the last one is damaged', async () => {
  await (await written()).close();
  await damage((await stat(path)).size - 50);
  await expect(openJournal(path)).rejects.toMatchObject({ code: 'journal_damaged' });
  expect(openOf(folder)).toEqual([]);
});

it('does not open if its first record is an empty line', async () => {
  await (await written()).close();
  await writeFile(path, `\n${await readFile(path, 'utf8')}`);
  await expect(openJournal(path)).rejects.toMatchObject({ code: 'journal_damaged' });
});

it('after compaction it has the tree and the records since, each time', async () => {
  const journal = await written();
  await journal.restart(treeOf(1).edge(), at(5), [appended(2), SECOND]);
  expect(journal.bytes).toBe((await stat(path)).size);
  await journal.restart(treeOf(1, 2).edge(), at(20), [SECOND]);
  await journal.append(THIRD);
  expect(journal.bytes).toBe((await stat(path)).size);
  expect(openOf(folder)).toEqual([path]);
  await journal.close();
  await appendFile(path, 'torn');
  const { journal: again, edge, positions, records } = await openJournal(path);
  expect([openTree(edge).root(), positions, records]).toEqual([treeOf(1, 2).root(), at(20), [SECOND, THIRD]]);
  await again.close();
});

it('overwrites what a crash left of a compaction', async () => {
  const journal = await written();
  await writeFile(`${path}.draft`, 'x'.repeat(5000));
  await journal.restart(treeOf(1, 2).edge(), at(20), [SECOND]);
  await journal.close();
  expect(await reread()).toEqual({ size: 2, positions: at(20), records: [SECOND] });
});

it.each<[string, () => Promise<unknown>]>([
  ['cannot be begun', () => mkdir(`${path}.draft`)],
  ['cannot be written', () => failOnce('write')],
  ['cannot be synced', () => failOnce('datasync')],
])('goes on with what it has if a compaction %s', async (_what, prepare) => {
  const journal = await written();
  await prepare();
  const restarting = journal.restart(treeOf(1, 2).edge(), at(20), [SECOND]);
  await expect(restarting).rejects.toMatchObject({ code: 'disk', cause: expect.any(Error) });
  expect(openOf(folder)).toEqual([path]);
  await journal.append(THIRD);
  await journal.close();
  expect((await reread()).records).toEqual([FIRST, SECOND, THIRD]);
});

it('writes a record whole if the system takes a part of it at a time', async () => {
  const { journal } = await openJournal(path);
  const handles = await fileHandles();
  const real = handles.write as (...args: unknown[]) => Promise<unknown>;
  const partly = (bytes: Buffer, from: number, length: number) => [bytes, from, Math.min(length, 7), null];
  vi.spyOn(handles, 'write').mockImplementation(function (this: typeof handles, ...args: unknown[]) {
    return real.apply(this, partly(...(args as [Buffer, number, number]))) as never;
  });
  await journal.append(FIRST);
  await journal.append(SECOND);
  await journal.close();
  expect((await reread()).records).toEqual([FIRST, SECOND]);
});

/** The next write has half of its bytes on the disk when it fails. */
async function tearNextWrite(): Promise<void> {
  const handles = await fileHandles();
  const real = handles.write as (bytes: Buffer) => Promise<unknown>;
  vi.spyOn(handles, 'write').mockImplementationOnce(async function (this: typeof handles, bytes: unknown) {
    await real.call(this, (bytes as Buffer).subarray(0, 50));
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  });
}

it('takes back what a failed write left, and appends again', async () => {
  const journal = await written();
  await tearNextWrite();
  const failure = { code: 'disk', cause: { code: 'ENOSPC' } };
  await expect(journal.append(THIRD)).rejects.toMatchObject(failure);
  expect(journal.bytes).toBe((await stat(path)).size);
  await journal.append(THIRD);
  await journal.close();
  expect((await reread()).records).toEqual([FIRST, SECOND, THIRD]);
});

const EIO = { cause: { message: 'EIO' } };

it('appends nothing after a failed write that it cannot take back', async () => {
  const journal = await written();
  await tearNextWrite();
  await failOnce('truncate');
  await expect(journal.append(THIRD)).rejects.toMatchObject({ code: 'disk' });
  await expect(journal.append(THIRD)).rejects.toMatchObject({ code: 'disk_doubtful' });
  await journal.close();
  expect((await reread()).records).toEqual([FIRST, SECOND]);
});

it('appends nothing after a failed sync, because the disk may have lost earlier records', async () => {
  const journal = await written();
  await failOnce('datasync');
  await expect(journal.append(THIRD)).rejects.toMatchObject({ code: 'disk_doubtful', ...EIO });
  await expect(journal.append(THIRD)).rejects.toMatchObject({ code: 'disk_doubtful' });
  await journal.close();
});

it('appends nothing after a compaction whose name may not be durable', async () => {
  const journal = await written();
  await failOnce('sync');
  const restarting = journal.restart(treeOf(1, 2, 3).edge(), at(30), []);
  await expect(restarting).rejects.toMatchObject({ code: 'disk_doubtful', ...EIO });
  await expect(journal.append(THIRD)).rejects.toMatchObject({ code: 'disk_doubtful' });
  await journal.close();
  expect(await reread()).toEqual({ size: 3, positions: at(30), records: [] });
});
