import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lockFolder } from '@ori/runtime/folder-lock';
import { parseCheckpoint } from '@ori/tlog/checkpoint';
import { isSameHash, rootOf, type Subtrees, type TreeHead } from '@ori/tlog/merkle';
import { parseNote } from '@ori/tlog/note';
import { readEntries, TILE_WIDTH } from '@ori/tlog/tile';
import { type MadeTile, openTree } from '@ori/tlog/tree';
import { LogError } from '../log-error.ts';
import { ifThere, makeFolder } from './durable-file.ts';
import { openGuard } from './guard.ts';
import { openJournal } from './journal.ts';
import { openLookup } from './lookup.ts';
import { openTileFiles } from './tile-files.ts';

/** A tree whose guard was lost. */
interface FoundTree {
  readonly head: TreeHead;
  /** The last published checkpoint, which the tree contains. */
  readonly published: TreeHead | undefined;
  subtrees(): Subtrees;
}

export interface LogFolderPlaces {
  readonly folder: string;
  readonly guardFolder: string;
  /** Called for a tree whose guard was lost; a new guard is made unless it throws. Absent: such a tree is refused. */
  readonly adopt?: (found: FoundTree) => Promise<void>;
}

/** The folder of the files that are served. */
export const publicFolder = (folder: string): string => join(folder, 'public');

/**
 * Opens the folder of a log and that of its guard, and locks both against other processes.
 *
 * @throws LogError `tree_rolled_back`, `guard_missing`, `guard_present`, `journal_damaged`; Error while another process has it
 */
export async function openLogFolder({ folder, guardFolder, adopt }: LogFolderPlaces) {
  await makeFolder(folder);
  await using stack = new AsyncDisposableStack();
  stack.defer(await lockFolder(join(folder, 'log')));
  const opened = await openJournal(join(folder, 'journal'));
  const { journal, edge, records } = opened;
  stack.defer(journal.close);
  await makeFolder(guardFolder);
  // A log over a copy of the folder would sign another history.
  stack.defer(await lockFolder(join(guardFolder, 'guard')));
  const guard = await openGuard(guardFolder);
  const tiles = await openTileFiles(publicFolder(folder));
  if (adopt !== undefined && guard.head !== undefined) {
    throw new LogError(
      'guard_present',
      `${guardFolder} says that ${guard.head.size} leaves were signed: start the log`,
    );
  }
  const claimed = guard.head ?? (adopt && (await readPublished(folder)));

  const tree = openTree(edge);
  const filled: MadeTile[] = [];
  let positions = opened.positions;
  let signed = claimed?.size === tree.size ? tree.root() : undefined;
  for (const record of records) {
    for (const entry of record.entries) {
      filled.push(...tree.append(entry));
      if (tree.size === claimed?.size) signed = tree.root();
    }
    positions = { ...positions, ...record.positions };
  }
  if (claimed !== undefined) {
    if (claimed.size < edge.size) signed = rootOf(claimed.size, tiles.subtrees(claimed.size));
    requireSigned(claimed, tree.size, signed);
  }
  if (guard.head === undefined && tree.size > 0 && adopt === undefined) {
    throw new LogError(
      'guard_missing',
      `there is no record of how many of these ${tree.size} leaves were signed`,
    );
  }
  await tiles.write(filled);
  if (guard.head === undefined) {
    const head = { size: tree.size, root: tree.root() };
    if (adopt !== undefined) {
      await tiles.write(tree.partial());
      await adopt({ head, published: claimed, subtrees: () => tiles.subtrees(head.size) });
    }
    // Created before the first line is appended: from then on, a missing guard means that it was lost.
    await guard.save(head);
  }

  let latest: { readonly bundle: number; readonly entries: readonly Uint8Array[] } | undefined;
  /** The entry of a leaf. */
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

/** A log on disk, checked against the signed tree. */
export type LogFolder = Awaited<ReturnType<typeof openLogFolder>>;

/** The tree of the checkpoint in the public folder. */
async function readPublished(folder: string): Promise<TreeHead | undefined> {
  const note = await ifThere(readFile(join(publicFolder(folder), 'checkpoint'), 'utf8'));
  return note === undefined ? undefined : parseCheckpoint(parseNote(note).text);
}

/** @throws LogError `tree_rolled_back` */
function requireSigned(head: TreeHead, size: number, root: Uint8Array | undefined): void {
  const isOlder = head.size > size;
  if (isOlder || root === undefined || !isSameHash(root, head.root)) {
    const why = isOlder
      ? `${head.size} leaves were signed and ${size} are here: this is an older copy of the tree. Restore the latest one`
      : `the first ${head.size} leaves differ from the signed ones`;
    throw new LogError('tree_rolled_back', why);
  }
}
