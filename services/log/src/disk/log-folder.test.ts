import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogKeys } from '@ori/tlog/log-keys';
import { rootOf } from '@ori/tlog/merkle';
import { renderNote } from '@ori/tlog/note';
import { type MadeTile, openTree } from '@ori/tlog/tree';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { signHead } from '../publisher.ts';
import { makeFolder } from './durable-file.ts';
import { openOf } from './file-handle.fixture.ts';
import { openJournal } from './journal.ts';
import { type LogFolder, type LogFolderPlaces, openLogFolder, publicFolder } from './log-folder.ts';

let place: string;
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'ori-log-folder-'));
});
afterEach(() => rm(place, { recursive: true }));

const entry = (at: number) => {
  const bytes = Buffer.alloc(97, 1);
  bytes.writeUInt32BE(at, 1);
  return bytes;
};
const entries = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => entry(from + at));
const treeOf = (size: number) => {
  const tree = openTree();
  for (const one of entries(0, size)) tree.append(one);
  return tree;
};
const headOf = (size: number) => ({ size, root: treeOf(size).root() });
const position = (offset: number) => ({ file: 'f', offset, last: 'l', done: [] });

const log = () => join(place, 'log');
const guard = () => join(place, 'guard');
const opening = (adopt?: LogFolderPlaces['adopt']) =>
  openLogFolder({ folder: log(), guardFolder: guard(), ...(adopt && { adopt }) });

async function append(folder: LogFolder, to: number): Promise<void> {
  const more = entries(folder.tree.size, to);
  await folder.journal.append({ entries: more, positions: { [`audit ${to}`]: position(to) } });
  const filled: MadeTile[] = [];
  for (const one of more) filled.push(...folder.tree.append(one));
  await folder.tiles.write([...filled, ...folder.tree.partial()]);
}

/** A closed log whose tree has the first sizes one after another and was last signed at `signed`. */
async function logOf({ sizes, signed, compacted }: { sizes: number[]; signed: number; compacted?: number }) {
  const folder = await opening();
  for (const size of sizes) {
    await append(folder, size);
    if (size === compacted) await folder.journal.restart(folder.tree.edge(), {}, []);
  }
  await folder.guard.save(headOf(signed));
  await folder.close();
}

/** Another journal with as many leaves, of which one is altered. */
async function alterJournal(size: number, altered: number): Promise<void> {
  await rm(join(log(), 'journal'));
  const { journal } = await openJournal(join(log(), 'journal'));
  await journal.append({ entries: entries(0, size).with(altered, entry(9999)), positions: {} });
  await journal.close();
}

it('has the tree, the positions of every source and its entries again after a restart', async () => {
  await logOf({ sizes: [3, 700], signed: 700 });
  const folder = await opening();
  expect(folder.tree.root()).toEqual(headOf(700).root);
  expect(folder.positions).toEqual({ 'audit 3': position(3), 'audit 700': position(700) });
  for (const at of [0, 2, 255, 256, 1, 511, 512, 699]) {
    expect(Buffer.from((await folder.entryAt(at)) ?? [])).toEqual(entry(at));
  }
  expect(await folder.entryAt(700)).toBeUndefined();
  expect(await folder.entryAt(1024)).toBeUndefined();
  await folder.close();
});

it('opens a folder for one process at a time, and gives it back when it is closed or did not open', async () => {
  const folder = await opening();
  await expect(opening()).rejects.toThrow('in use');
  await folder.close();
  await mkdir(join(guard(), 'signed.json.draft'));
  await rm(join(guard(), 'signed.json'));
  await expect(opening()).rejects.toThrow();
  expect(openOf(place)).toEqual([]);
  await rm(join(guard(), 'signed.json.draft'), { recursive: true });
  await (await opening()).close();
  expect(openOf(place)).toEqual([]);
});

it('makes the tiles of its journal again that a crash kept from the disk', async () => {
  await logOf({ sizes: [600], signed: 600 });
  await rm(join(publicFolder(log()), 'tile'), { recursive: true });
  const folder = await opening();
  await folder.tiles.write(folder.tree.partial());
  expect(Buffer.from(rootOf(600, folder.tiles.subtrees(600)))).toEqual(Buffer.from(headOf(600).root));
  expect(await folder.entryAt(300)).toEqual(entry(300));
  await folder.close();
});

it.each([
  ['in the middle of a record', { sizes: [5], signed: 3 }],
  ['at the end of the journal', { sizes: [2, 5], signed: 5 }],
  ['where the journal was compacted', { sizes: [3, 5], signed: 3, compacted: 3 }],
  ['before the journal was compacted', { sizes: [300, 500], signed: 300, compacted: 500 }],
  ['before any leaf', { sizes: [5], signed: 0 }],
])('opens a tree that was signed %s', async (_what, facts) => {
  await logOf(facts);
  const folder = await opening();
  expect(folder.tree.size).toBe(facts.sizes.at(-1));
  expect(folder.guard.head).toMatchObject({ size: facts.signed });
  await folder.close();
});

it.each<[string, Parameters<typeof logOf>[0], () => Promise<void>]>([
  ['a journal with an altered leaf, of the same size', { sizes: [2], signed: 2 }, () => alterJournal(2, 1)],
  [
    'a journal with an altered leaf, which has grown since',
    { sizes: [2], signed: 2 },
    () => alterJournal(5, 1),
  ],
  ['a journal with fewer leaves', { sizes: [5], signed: 5 }, () => alterJournal(4, 0)],
  ['a lost journal', { sizes: [5], signed: 5 }, () => rm(join(log(), 'journal'))],
  [
    'a compacted journal of another tree',
    { sizes: [3], signed: 3, compacted: 3 },
    async () => {
      await rm(join(log(), 'journal'));
      const { journal } = await openJournal(join(log(), 'journal'));
      const tree = openTree();
      for (const one of [0, 1, 9999]) tree.append(entry(one));
      await journal.restart(tree.edge(), {}, []);
      await journal.close();
    },
  ],
  [
    'altered tiles of the signed tree before the compacted journal',
    { sizes: [300, 500], signed: 300, compacted: 500 },
    async () => {
      const tile = join(publicFolder(log()), 'tile/1/000.p/1');
      const bytes = await readFile(tile);
      await writeFile(tile, bytes.fill(7));
    },
  ],
])('does not open %s', async (_what, facts, alter) => {
  await logOf(facts);
  await alter();
  await expect(opening()).rejects.toMatchObject({ code: 'tree_rolled_back' });
  expect(openOf(place)).toEqual([]);
});

it('does not open an older copy of a signed tree', async () => {
  await logOf({ sizes: [3], signed: 3 });
  await cp(log(), join(place, 'older'), { recursive: true });
  const folder = await opening();
  await append(folder, 5);
  await folder.guard.save(headOf(5));
  await folder.close();
  await rm(log(), { recursive: true });
  await cp(join(place, 'older'), log(), { recursive: true });
  await expect(opening()).rejects.toMatchObject({ code: 'tree_rolled_back' });
});

it('has a guard before its first leaf, so that a tree without one has lost it', async () => {
  await (await opening()).close();
  const folder = await opening();
  expect(folder.guard.head).toEqual({ size: 0, root: Buffer.from(headOf(0).root) });
  await append(folder, 3);
  await folder.close();
  await rm(guard(), { recursive: true });
  await expect(opening()).rejects.toMatchObject({ code: 'guard_missing' });
  await expect(opening()).rejects.toMatchObject({ code: 'guard_missing' });
});

const keys = createLogKeys('log.example/log', Buffer.alloc(32, 7).toString('base64'));

async function publish(size: number): Promise<void> {
  await makeFolder(publicFolder(log()));
  await writeFile(
    join(publicFolder(log()), 'checkpoint'),
    renderNote(signHead(keys, { size, root: treeOf(size).root() })),
  );
}

it.each([undefined, 2])(
  'adopts a tree without its guard that contains what was published: %s leaves',
  async (size) => {
    await logOf({ sizes: [300], signed: 300 });
    await rm(guard(), { recursive: true });
    await rm(join(publicFolder(log()), 'tile'), { recursive: true });
    if (size !== undefined) await publish(size);
    const seen: unknown[] = [];
    const folder = await opening(async ({ head, published, subtrees }) => {
      seen.push(head, published?.size, Buffer.from(rootOf(300, subtrees())));
    });
    expect(seen).toEqual([headOf(300), size, Buffer.from(headOf(300).root)]);
    await folder.close();
    await (await opening()).close();
  },
);

it('adopts no tree that has fewer leaves than were published, or others', async () => {
  await logOf({ sizes: [300], signed: 300 });
  await rm(guard(), { recursive: true });
  const adopted = async () => undefined;
  await publish(301);
  await expect(opening(adopted)).rejects.toMatchObject({ code: 'tree_rolled_back' });
  await publish(300);
  await alterJournal(300, 7);
  await expect(opening(adopted)).rejects.toMatchObject({ code: 'tree_rolled_back' });
});

it('makes no guard for a tree that is not adopted after all', async () => {
  await logOf({ sizes: [3], signed: 3 });
  await rm(guard(), { recursive: true });
  await expect(opening(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  await expect(opening()).rejects.toMatchObject({ code: 'guard_missing' });
});

it('adopts no tree that has its guard', async () => {
  await logOf({ sizes: [3], signed: 3 });
  await expect(opening(async () => undefined)).rejects.toMatchObject({ code: 'guard_present' });
});

it('a second log over another folder cannot use the guard of one that runs', async () => {
  const running = await opening();
  const other = { folder: join(place, 'copy'), guardFolder: guard() };
  await expect(openLogFolder(other)).rejects.toThrow(/another process/);
  await running.close();
  await (await openLogFolder(other)).close();
});
