import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { NO_COMMITMENT, renderEntry } from '@ori/tlog/entry';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openOf } from './file-handle.fixture.ts';
import { openLookup, SEGMENT, SPARE } from './lookup.ts';

let folder: string;
beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'ori-lookup-')));
});
afterEach(() => rm(folder, { recursive: true }));

const hashOf = (name: string) => createHash('sha256').update(name).digest();
const LINE = hashOf('');
const even = (at: number) =>
  renderEntry({ kind: 'proof', v2: hashOf(`2 ${at}`), v1: hashOf(`1 ${at}`), line: LINE });

/** Commitments that are anything but evenly distributed: all but a few share their first bytes. */
function uneven(at: number): Uint8Array {
  const v2 = hashOf(`2 ${at}`);
  const start = at % 1000 === 1 ? 0xff : at % 1000 === 2 ? 0 : 0x55;
  v2.fill(start, 0, 3);
  return renderEntry({ kind: 'proof', v2, v1: NO_COMMITMENT, line: LINE });
}

/** More than there is room for at first. */
const SIZE = SEGMENT + SPARE + 300;
const SAMPLE = [0, 1, 2, 3, 255, 1001, 1002, 30_000, SEGMENT - 2, SEGMENT - 1, SEGMENT, SIZE - 301, SIZE - 1];

it.each([
  ['evenly distributed commitments', even],
  ['unevenly distributed ones', uneven],
])('finds entries on disk and in memory, also after a restart: %s', async (_what, entryOf) => {
  const entryAt = async (index: number) => entryOf(index);
  const filled = await openLookup(folder, 0, entryAt);
  for (let at = 0; at < SIZE; at++) filled.add(entryOf(at));
  for (const index of SAMPLE)
    expect(await filled.find(entryOf(index).subarray(1, 33))).toMatchObject({ index });
  await filled.seal();
  expect(await readdir(folder)).toEqual(['0']);
  // Six bytes of a commitment and two of a place, and nothing of the entries after the file's.
  const { size } = await stat(join(folder, '0'));
  expect(size).toBe((entryOf === even ? 2 : 1) * SEGMENT * 8);
  const read: number[] = [];
  const reopened = await openLookup(folder, SIZE, async (index) => {
    read.push(index);
    return entryOf(index);
  });
  expect([read.length, read[0]]).toEqual([SIZE - SEGMENT, SEGMENT]);
  for (const lookup of [filled, reopened]) {
    for (const index of SAMPLE) {
      const entry = entryOf(index);
      expect(await lookup.find(entry.subarray(1, 33))).toEqual({ index, entry });
      if (entryOf === even) expect(await lookup.find(entry.subarray(33, 65))).toEqual({ index, entry });
    }
    const almost = Buffer.from(entryOf(3).subarray(1, 33));
    almost[31] = (almost[31] ?? 0) ^ 1;
    for (const absent of [almost, hashOf('nobody'), Buffer.alloc(32, 0xff), Buffer.alloc(32), NO_COMMITMENT])
      expect(await lookup.find(absent)).toBeUndefined();
  }
});

it('does not open if an entry of the tree is missing', async () => {
  await expect(openLookup(folder, 3, async () => undefined)).rejects.toThrow('leaf 0 is missing');
});

/** An entry with one commitment that begins as told, and is as no other. */
function beginning(prefix: number, at: number): Uint8Array {
  const v2 = Buffer.alloc(32, 1);
  v2.writeUIntBE(prefix, 0, 6);
  v2.writeUInt32BE(at, 6);
  return renderEntry({ kind: 'proof', v2, v1: NO_COMMITMENT, line: NO_COMMITMENT });
}
const WITHOUT = renderEntry({ kind: 'proof', v2: NO_COMMITMENT, v1: NO_COMMITMENT, line: NO_COMMITMENT });
const commitmentOf = (entry: Uint8Array) => entry.subarray(1, 33);

/** A lookup whose entries are in files as far as they fill them. */
async function lookupOf(entries: readonly Uint8Array[]) {
  const lookup = await openLookup(folder, 0, async (index) => entries[index]);
  for (const entry of entries) lookup.add(entry);
  await lookup.seal();
  return lookup;
}

/** The prefix that evenly distributed commitments have at a place of a file. */
const prefixAt = (place: number) => place * 2 ** 32;

it.each([-1025, -1024, 1023, 1024])(
  'finds both of two commitments that begin alike, the first of them %i places from where it is expected',
  async (off) => {
    const expected = 30_000;
    const prefixes = Array.from({ length: SEGMENT }, (_, at) => {
      const place = expected + off;
      if (at < place) return prefixAt(Math.min(at, expected - 1)) + at;
      if (at <= place + 1) return prefixAt(expected);
      return prefixAt(Math.max(at, expected + 1)) + at;
    });
    const entries = prefixes.map(beginning);
    const lookup = await lookupOf(entries);
    for (const index of [expected + off, expected + off + 1])
      expect(await lookup.find(commitmentOf(entries[index] as Uint8Array))).toMatchObject({ index });
  },
);

it.each([1500, 5000])('finds each of %i commitments that begin alike', async (count) => {
  const [from, to] = [30_000, 30_000 + count];
  const prefixes = Array.from({ length: SEGMENT }, (_, at) => prefixAt(at < from || at >= to ? at : 31_000));
  const entries = prefixes.map(beginning);
  const lookup = await lookupOf(entries);
  for (const index of [from - 1, from, from + 1024, to - 1, to])
    expect(await lookup.find(commitmentOf(entries[index] as Uint8Array))).toMatchObject({ index });
  expect(await lookup.find(commitmentOf(beginning(prefixAt(31_000), SEGMENT)))).toBeUndefined();
});

it('finds both of two commitments in memory that begin alike', async () => {
  const entries = [beginning(5, 0), beginning(6, 1), beginning(5, 2)];
  const lookup = await lookupOf(entries);
  for (const [index, entry] of entries.entries())
    expect(await lookup.find(commitmentOf(entry))).toEqual({ index, entry });
  expect(await lookup.find(commitmentOf(beginning(5, 3)))).toBeUndefined();
});

it('has a file for each 65,536 entries, and makes again only those that are missing', async () => {
  const size = 2 * SEGMENT + 10;
  const entries = Array.from({ length: size }, (_, at) => beginning(at % 7919, at));
  await lookupOf(entries);
  expect((await readdir(folder)).sort()).toEqual(['0', '1']);
  await rm(join(folder, '0'));
  const read: number[] = [];
  const entryAt = async (index: number) => {
    read.push(index);
    return entries[index];
  };
  const lookup = await openLookup(folder, size, entryAt);
  expect([read.length, read.at(-1)]).toEqual([SEGMENT + 10, size - 1]);
  for (const index of [0, SEGMENT - 1, SEGMENT, 2 * SEGMENT - 1, 2 * SEGMENT, size - 1]) {
    const entry = entries[index] as Uint8Array;
    expect(await lookup.find(commitmentOf(entry))).toEqual({ index, entry });
  }
  read.length = 0;
  await openLookup(folder, 2 * SEGMENT, entryAt);
  expect(read).toEqual([]);
  // An older copy of the tree, whose lookup is newer.
  const older = await openLookup(folder, SEGMENT + 1, entryAt);
  expect(read).toEqual([SEGMENT]);
  expect(await older.find(commitmentOf(entries[SEGMENT + 1] as Uint8Array))).toBeUndefined();
});

it.each([0, 3])('finds what is there in a file of %i commitments', async (count) => {
  const few = Array.from({ length: count }, (_, at) => beginning(1 + prefixAt(20_000 * at), at));
  const lookup = await lookupOf([...few, ...Array.from({ length: SEGMENT - count }, () => WITHOUT)]);
  for (const [index, entry] of few.entries())
    expect(await lookup.find(commitmentOf(entry))).toEqual({ index, entry });
  for (const absent of [NO_COMMITMENT, commitmentOf(beginning(1, 9)), Buffer.alloc(32, 0xff)])
    expect(await lookup.find(absent)).toBeUndefined();
});

it('finds no other entry through a file that was altered', async () => {
  const entries = Array.from({ length: SEGMENT }, (_, at) => beginning(prefixAt(at), at));
  const lookup = await lookupOf(entries);
  const bytes = await readFile(join(folder, '0'));
  bytes.writeUInt16BE(8, 7 * 8 + 6);
  await writeFile(join(folder, '0'), bytes);
  expect(await lookup.find(commitmentOf(entries[7] as Uint8Array))).toBeUndefined();
  expect(await lookup.find(commitmentOf(entries[8] as Uint8Array))).toMatchObject({ index: 8 });
  expect(openOf(folder)).toEqual([]);
});

it('keeps at most 256 bytes of memory for a leaf, and none for those of full files', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
  const lookup = await openLookup(folder, 0, async (index) => even(index));
  const before = used();
  for (let at = 0; at < SEGMENT; at++) lookup.add(even(at));
  const full = used() - before;
  expect(full / SEGMENT).toBeLessThan(256);
  await lookup.seal();
  for (let at = 0; at < SEGMENT; at++) lookup.add(even(SEGMENT + at));
  await lookup.seal();
  expect((used() - before) / SEGMENT).toBeLessThan(128);
});
