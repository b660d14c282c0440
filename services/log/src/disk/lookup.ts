import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ENTRY_BYTES, hasCommitment, NO_COMMITMENT, parseEntry } from '@ori/tlog/entry';
import { type Hash, isSameHash } from '@ori/tlog/merkle';
import { makeFolder, replaceFile } from './durable-file.ts';

/** Leaves in one file of the lookup. */
export const SEGMENT = 65_536;
/** Bytes of a commitment that are kept; a match is confirmed by its entry. */
const PREFIX_BYTES = 6;
const ITEM_BYTES = 8;
/** Items read around the expected place: prefixes are evenly distributed, and this is many times their deviation. */
const WINDOW_ITEMS = 2048;

interface Found {
  readonly index: number;
  readonly entry: Uint8Array;
}

/** Finds the leaf of a commitment. It is derived from the entries, so it can be deleted and is then rebuilt. */
export interface Lookup {
  /** Adds the next entry. */
  add(entry: Uint8Array): void;
  /** Writes entries that fill a file and releases their memory. May be retried after a failure. */
  seal(): Promise<void>;
  find(commitment: Hash): Promise<Found | undefined>;
}

/**
 * The latest entries are in memory, the others in sorted files of 65,536 leaves, 16 bytes each.
 *
 * @param entries the entries of the tree from an index on, to make again what is missing
 */
export async function openLookup(
  folder: string,
  size: number,
  entryAt: (index: number) => Promise<Uint8Array | undefined>,
): Promise<Lookup> {
  await makeFolder(folder);
  const there = new Set(await readdir(folder));
  let segments = 0;
  /** The entries in memory, one after another: an array of small buffers would take several times as much. */
  let entries = new Uint8Array(SEGMENT * ENTRY_BYTES);
  let count = 0;
  let recent = new Map<number, Places>();

  const pathOf = (segment: number) => join(folder, String(segment));

  function index(commitment: Hash, at: number): void {
    if (isSameHash(commitment, NO_COMMITMENT)) return;
    const prefix = prefixOf(commitment);
    const same = recent.get(prefix);
    if (same === undefined) recent.set(prefix, at);
    else if (typeof same === 'number') recent.set(prefix, [same, at]);
    else same.push(at);
  }

  const entryIn = (at: number) => entries.slice(at * ENTRY_BYTES, (at + 1) * ENTRY_BYTES);

  function add(bytes: Uint8Array): void {
    const at = count;
    if ((at + 1) * ENTRY_BYTES > entries.length) {
      const larger = new Uint8Array(2 * entries.length);
      larger.set(entries);
      entries = larger;
    }
    entries.set(bytes, at * ENTRY_BYTES);
    count += 1;
    const entry = parseEntry(bytes);
    if (entry.kind === 'key') return;
    index(entry.v1, at);
    index(entry.v2, at);
  }

  async function seal(): Promise<void> {
    while (count >= SEGMENT) {
      await replaceFile(pathOf(segments), renderSegment(recent));
      segments += 1;
      const rest = Array.from({ length: count - SEGMENT }, (_, at) => entryIn(SEGMENT + at));
      count = 0;
      recent = new Map();
      rest.forEach(add);
    }
  }

  async function candidates(segment: number, prefix: number): Promise<number[]> {
    const file = await open(pathOf(segment), 'r');
    try {
      const items = (await file.stat()).size / ITEM_BYTES;
      let from = Math.floor((prefix / 2 ** (8 * PREFIX_BYTES)) * items) - WINDOW_ITEMS / 2;
      for (;;) {
        const start = Math.max(0, Math.min(from, items - WINDOW_ITEMS));
        const window = Buffer.alloc(Math.min(WINDOW_ITEMS, items) * ITEM_BYTES);
        await file.read(window, 0, window.length, start * ITEM_BYTES);
        const first = window.readUIntBE(0, PREFIX_BYTES);
        const last = window.readUIntBE(window.length - ITEM_BYTES, PREFIX_BYTES);
        if (first >= prefix && start > 0) from = start - WINDOW_ITEMS / 2;
        else if (last <= prefix && start + WINDOW_ITEMS < items) from = start + WINDOW_ITEMS / 2;
        else return matches(window, prefix);
      }
    } finally {
      await file.close();
    }
  }

  async function confirm(
    commitment: Hash,
    at: number,
    entry: Uint8Array | undefined,
  ): Promise<Found | undefined> {
    return entry && hasCommitment(parseEntry(entry), commitment) ? { index: at, entry } : undefined;
  }

  async function find(commitment: Hash): Promise<Found | undefined> {
    const prefix = prefixOf(commitment);
    const base = segments * SEGMENT;
    for (const at of placesOf(recent.get(prefix))) {
      const found = await confirm(commitment, base + at, entryIn(at));
      if (found) return found;
    }
    for (let segment = segments - 1; segment >= 0; segment--) {
      for (const at of await candidates(segment, prefix)) {
        const index = segment * SEGMENT + at;
        const found = await confirm(commitment, index, await entryAt(index));
        if (found) return found;
      }
    }
    return undefined;
  }

  for (let at = 0; at < size; ) {
    if (size - at >= SEGMENT && there.has(String(segments))) {
      segments += 1;
      at += SEGMENT;
      continue;
    }
    const entry = await entryAt(at);
    if (entry === undefined) throw new Error(`the bundle of leaf ${at} is missing`);
    add(entry);
    at += 1;
    await seal();
  }
  return { add, seal, find };
}

/** The leaves with one prefix: nearly always one. */
type Places = number | number[];

const placesOf = (places: Places | undefined): readonly number[] =>
  typeof places === 'number' ? [places] : (places ?? []);

function prefixOf(commitment: Hash): number {
  return Buffer.from(commitment.buffer, commitment.byteOffset, PREFIX_BYTES).readUIntBE(0, PREFIX_BYTES);
}

/** Prefix and place of each commitment, in order: 6 and 2 bytes, big-endian. */
function renderSegment(recent: ReadonlyMap<number, Places>): Buffer {
  const items: bigint[] = [];
  for (const [prefix, places] of recent) {
    for (const at of placesOf(places)) if (at < SEGMENT) items.push((BigInt(prefix) << 16n) | BigInt(at));
  }
  const sorted = BigUint64Array.from(items).sort();
  const bytes = Buffer.alloc(sorted.length * ITEM_BYTES);
  for (const [place, item] of sorted.entries()) bytes.writeBigUInt64BE(item, place * ITEM_BYTES);
  return bytes;
}

function matches(window: Buffer, prefix: number): number[] {
  const found: number[] = [];
  for (let at = 0; at < window.length; at += ITEM_BYTES) {
    if (window.readUIntBE(at, PREFIX_BYTES) === prefix) found.push(window.readUInt16BE(at + PREFIX_BYTES));
  }
  return found;
}
