import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { commitmentsIn, ENTRY_BYTES, hasCommitment, NO_COMMITMENT, parseEntry } from '@ori/tlog/entry';
import { type Hash, isSameHash } from '@ori/tlog/merkle';
import { makeFolder, replaceFile } from './durable-file.ts';

/** Leaves in one file of the lookup. */
export const SEGMENT = 65_536;
/** Bytes of a commitment that are kept; a match is confirmed by its entry. */
const PREFIX_BYTES = 6;
const ITEM_BYTES = 8;
/** Room for what is read at once: a file is sealed after it. */
export const SPARE = 8192;
/** Chains of the places in memory whose prefixes leave the same remainder. */
const CHAINS = 131_072;
/** In place of a prefix. */
const NONE = -1;
/** Items read around the expected place: prefixes are evenly distributed, and this is many times their deviation. */
const WINDOW_ITEMS = 2048;

interface Found {
  readonly index: number;
  readonly entry: Uint8Array;
}

/**
 * Finds the leaf of a commitment. The latest entries are in memory, the others in sorted files of 65,536 leaves, 16 bytes each. All
 * of it is derived from the entries, so it can be deleted and is then rebuilt.
 *
 * @param entries the entries of the tree from an index on, to make again what is missing
 */
export async function openLookup(
  folder: string,
  size: number,
  entryAt: (index: number) => Promise<Uint8Array | undefined>,
) {
  await makeFolder(folder);
  const there = new Set(await readdir(folder));
  let segments = 0;
  /** The entries in memory, one after another: an array of small buffers would take several times as much. */
  let entries = new Uint8Array((SEGMENT + SPARE) * ENTRY_BYTES);
  /** The prefixes of the two commitments of each. */
  let prefixes = new Float64Array(2 * (SEGMENT + SPARE));
  /** A search through all prefixes would stop the log for a quarter of a second while it answers one request. */
  const chains = new Int32Array(CHAINS);
  /** For each place, the one before it in its chain; both count from 1, and 0 ends a chain. */
  let previous = new Int32Array(prefixes.length);
  let count = 0;

  const pathOf = (segment: number) => join(folder, String(segment));

  const entryIn = (at: number) => entries.slice(at * ENTRY_BYTES, (at + 1) * ENTRY_BYTES);

  function link(place: number): void {
    const prefix = prefixes[place] ?? NONE;
    if (prefix === NONE) return;
    const chain = prefix % CHAINS;
    previous[place] = chains[chain] ?? 0;
    chains[chain] = place + 1;
  }

  /** Adds the next entry. */
  function add(bytes: Uint8Array): void {
    if ((count + 1) * ENTRY_BYTES > entries.length) {
      const larger = {
        entries: new Uint8Array(2 * entries.length),
        prefixes: new Float64Array(2 * prefixes.length),
        previous: new Int32Array(2 * prefixes.length),
      };
      larger.entries.set(entries);
      larger.prefixes.set(prefixes);
      larger.previous.set(previous);
      ({ entries, prefixes, previous } = larger);
    }
    entries.set(bytes, count * ENTRY_BYTES);
    prefixes.set(commitmentsIn(parseEntry(bytes)).map(prefixOrNone), 2 * count);
    link(2 * count);
    link(2 * count + 1);
    count += 1;
  }

  /** Writes entries that fill a file and releases their memory. May be retried after a failure. */
  async function seal(): Promise<void> {
    while (count >= SEGMENT) {
      await replaceFile(pathOf(segments), renderSegment(prefixes.subarray(0, 2 * SEGMENT)));
      segments += 1;
      entries.copyWithin(0, SEGMENT * ENTRY_BYTES, count * ENTRY_BYTES);
      prefixes.copyWithin(0, 2 * SEGMENT, 2 * count);
      count -= SEGMENT;
      chains.fill(0);
      for (let place = 0; place < 2 * count; place++) link(place);
    }
  }

  async function candidates(segment: number, prefix: number): Promise<number[]> {
    const file = await open(pathOf(segment), 'r');
    try {
      const items = (await file.stat()).size / ITEM_BYTES;
      if (items === 0) return [];
      const readFrom = async (start: number) => {
        const window = Buffer.alloc(Math.min(WINDOW_ITEMS, items - start) * ITEM_BYTES);
        await file.read(window, 0, window.length, start * ITEM_BYTES);
        return window;
      };
      const expected = Math.floor((prefix / 2 ** (8 * PREFIX_BYTES)) * items);
      let start = Math.max(0, Math.min(expected - WINDOW_ITEMS / 2, items - WINDOW_ITEMS));
      let window = await readFrom(start);
      while (start > 0 && window.readUIntBE(0, PREFIX_BYTES) >= prefix) {
        start = Math.max(0, start - WINDOW_ITEMS);
        window = await readFrom(start);
      }
      const found = matches(window, prefix);
      while (
        start + WINDOW_ITEMS < items &&
        window.readUIntBE(window.length - ITEM_BYTES, PREFIX_BYTES) <= prefix
      ) {
        start += WINDOW_ITEMS;
        window = await readFrom(start);
        found.push(...matches(window, prefix));
      }
      return found;
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
    for (let next = chains[prefix % CHAINS] ?? 0; next > 0; next = previous[next - 1] ?? 0) {
      const at = (next - 1) >> 1;
      if (prefixes[next - 1] !== prefix) continue;
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

export type Lookup = Awaited<ReturnType<typeof openLookup>>;

const prefixOrNone = (commitment: Hash): number =>
  isSameHash(commitment, NO_COMMITMENT) ? NONE : prefixOf(commitment);

function prefixOf(commitment: Hash): number {
  return Buffer.from(commitment.buffer, commitment.byteOffset, PREFIX_BYTES).readUIntBE(0, PREFIX_BYTES);
}

/** Prefix and place of each commitment, in order: 6 and 2 bytes, big-endian. */
function renderSegment(prefixes: Float64Array): Buffer {
  const items = new BigUint64Array(prefixes.length);
  let length = 0;
  for (const [place, prefix] of prefixes.entries()) {
    if (prefix !== NONE) items[length++] = (BigInt(prefix) << 16n) | BigInt(place >> 1);
  }
  const bytes = Buffer.alloc(length * ITEM_BYTES);
  for (const [place, item] of items.subarray(0, length).sort().entries())
    bytes.writeBigUInt64BE(item, place * ITEM_BYTES);
  return bytes;
}

function matches(window: Buffer, prefix: number): number[] {
  const found: number[] = [];
  for (let at = 0; at < window.length; at += ITEM_BYTES) {
    if (window.readUIntBE(at, PREFIX_BYTES) === prefix) found.push(window.readUInt16BE(at + PREFIX_BYTES));
  }
  return found;
}
