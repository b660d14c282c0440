import { appendFile, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openTree } from '@ori/tlog/tree';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openJournal } from './journal.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-journal-'));
  path = join(folder, 'journal');
});
afterEach(() => rm(folder, { recursive: true }));

const entry = (fill: number) => Buffer.alloc(97, fill);
const at = (offset: number) => ({ audit: { file: 'f', offset, last: 'l', done: [] } });

async function written() {
  const { journal } = await openJournal(path);
  await journal.append({ entries: [entry(1), entry(2)], positions: at(10) });
  await journal.append({ entries: [entry(3)], positions: at(20) });
  return journal;
}

it('returns the appended records in order, each with its positions', async () => {
  await (await written()).close();
  const { journal, records } = await openJournal(path);
  expect(records.map(({ entries }) => entries.map((one) => one[0]))).toEqual([[1, 2], [3]]);
  expect(records.at(-1)?.positions).toEqual(at(20));
  await journal.close();
});

it.each([1, 40, 200])(
  'removes a last record that is torn %i bytes before its end, and appends after it',
  async (bytes) => {
    await (await written()).close();
    const content = await readFile(path);
    await writeFile(path, content.subarray(0, content.length - bytes));
    const { journal, records } = await openJournal(path);
    expect(records).toHaveLength(1);
    await journal.append({ entries: [entry(4)], positions: at(30) });
    await journal.close();
    const again = await openJournal(path);
    expect(again.records.map(({ entries }) => entries[0]?.[0])).toEqual([1, 4]);
    await again.journal.close();
  },
);

it('does not open if a record before the last one is damaged', async () => {
  await (await written()).close();
  const content = await readFile(path);
  content[50] = (content[50] ?? 0) ^ 1;
  await writeFile(path, content);
  await expect(openJournal(path)).rejects.toMatchObject({ code: 'journal_damaged' });
});

it('after compaction it has the tree and the records since', async () => {
  const journal = await written();
  const tree = openTree();
  for (const fill of [1, 2]) tree.append(entry(fill));
  await journal.restart(tree.edge(), at(10), [{ entries: [entry(3)], positions: at(20) }]);
  await journal.append({ entries: [entry(4)], positions: at(30) });
  await journal.close();
  await appendFile(path, 'torn');
  const opened = await openJournal(path);
  const rebuilt = openTree(opened.edge);
  for (const { entries } of opened.records) for (const one of entries) rebuilt.append(one);
  for (const fill of [3, 4]) tree.append(entry(fill));
  expect(rebuilt.root()).toEqual(tree.root());
  await opened.journal.close();
});

it('appends nothing after a failed sync, because the disk may have lost earlier records', async () => {
  const journal = await written();
  const handle = await open('/dev/null');
  const datasync = vi.spyOn(Object.getPrototypeOf(handle), 'datasync');
  await handle.close();
  datasync.mockRejectedValueOnce(new Error('EIO'));
  const append = () => journal.append({ entries: [entry(4)], positions: at(30) });
  await expect(append()).rejects.toMatchObject({ code: 'disk_doubtful' });
  await expect(append()).rejects.toMatchObject({ code: 'disk_doubtful' });
  datasync.mockRestore();
  await journal.close();
});
