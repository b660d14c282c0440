import { join } from 'node:path';
import { lockFolder } from '@ori/runtime/folder-lock';
import { isSameHash, rootOf, type TreeHead } from '@ori/tlog/merkle';
import { readEntries, TILE_WIDTH } from '@ori/tlog/tile';
import { type MadeTile, openTree, type Tree } from '@ori/tlog/tree';
import type { Positions } from '../follow/position.ts';
import { LogError } from '../log-error.ts';
import { makeFolder } from './durable-file.ts';
import { type Guard, openGuard } from './guard.ts';
import { type Journal, openJournal } from './journal.ts';
import { type Lookup, openLookup } from './lookup.ts';
import { openTileFiles, type TileFiles } from './tile-files.ts';

/** A log as it is on disk: nothing in it disagrees with anything that was signed. */
export interface LogFolder {
  readonly tree: Tree;
  readonly positions: Positions;
  readonly journal: Journal;
  readonly tiles: TileFiles;
  readonly lookup: Lookup;
  readonly guard: Guard;
  /** The entry of a leaf. */
  entryAt(index: number): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

export interface LogFolderPlaces {
  readonly folder: string;
  readonly guardFolder: string;
  /** Takes the tree as it is, where nothing says how far it was signed. */
  readonly adopt?: boolean;
}

/** Where the files are that anyone may fetch. */
export const publicFolder = (folder: string): string => join(folder, 'public');

/**
 * Opens the folder of a log for the one process that may write there.
 *
 * @throws LogError `tree_rolled_back`, `guard_missing`, `journal_damaged`; Error while another process has it
 */
export async function openLogFolder({
  folder,
  guardFolder,
  adopt = false,
}: LogFolderPlaces): Promise<LogFolder> {
  await makeFolder(folder);
  await using stack = new AsyncDisposableStack();
  stack.defer(await lockFolder(join(folder, 'log')));
  const opened = await openJournal(join(folder, 'journal'));
  const { journal, edge, records } = opened;
  stack.defer(journal.close);
  const guard = await openGuard(guardFolder);
  const tiles = await openTileFiles(publicFolder(folder));

  const tree = openTree(edge);
  const filled: MadeTile[] = [];
  let positions = opened.positions;
  let signed = guard.head?.size === tree.size ? tree.root() : undefined;
  for (const record of records) {
    for (const entry of record.entries) {
      filled.push(...tree.append(entry));
      if (tree.size === guard.head?.size) signed = tree.root();
    }
    positions = { ...positions, ...record.positions };
  }
  if (guard.head === undefined) {
    if (tree.size > 0 && !adopt) {
      throw new LogError('guard_missing', `nothing says how far these ${tree.size} leaves were signed`);
    }
    // Before the first line is taken in: from then on a missing guard means that it was lost.
    await guard.save({ size: tree.size, root: tree.root() });
  } else {
    if (guard.head.size < edge.size) signed = rootOf(guard.head.size, tiles.subtrees(guard.head.size));
    requireSigned(guard.head, tree.size, signed);
  }
  await tiles.write(filled);

  let latest: { readonly bundle: number; readonly entries: readonly Uint8Array[] } | undefined;
  async function entryAt(index: number): Promise<Uint8Array | undefined> {
    const bundle = Math.floor(index / TILE_WIDTH);
    if (bundle === Math.floor(tree.size / TILE_WIDTH)) {
      return tree.edge().entries[index % TILE_WIDTH]?.subarray(2);
    }
    if (latest?.bundle !== bundle) {
      const bytes = await tiles.read({ level: 'entries', index: bundle, width: TILE_WIDTH });
      if (bytes === undefined) return undefined;
      latest = { bundle, entries: readEntries(bytes) };
    }
    return latest.entries[index % TILE_WIDTH];
  }
  const lookup = await openLookup(join(folder, 'lookup'), tree.size, entryAt);
  const owned = stack.move();
  return { tree, positions, journal, tiles, lookup, guard, entryAt, close: () => owned.disposeAsync() };
}

/** @throws LogError `tree_rolled_back` */
function requireSigned(head: TreeHead, size: number, root: Uint8Array | undefined): void {
  if (head.size > size) {
    throw new LogError(
      'tree_rolled_back',
      `${head.size} leaves were signed and ${size} are here: this is an older copy of the tree. Restore the latest one`,
    );
  }
  if (root === undefined || !isSameHash(root, head.root)) {
    throw new LogError('tree_rolled_back', `the first ${head.size} leaves are not those that were signed`);
  }
}
