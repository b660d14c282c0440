import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { NO_COMMITMENT, renderEntry } from '@ori/tlog/entry';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openLookup, SEGMENT, SPARE } from './lookup.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ori-lookup-'));
});
afterEach(() => rm(folder, { recursive: true }));

const hashOf = (name: string) => createHash('sha256').update(name).digest();
const even = (at: number) =>
  renderEntry({ kind: 'proof', v2: hashOf(`2 ${at}`), v1: hashOf(`1 ${at}`), line: hashOf('') });

/** Commitments that are anything but evenly distributed: all but a few share their first bytes. */
function uneven(at: number): Uint8Array {
  const v2 = hashOf(`2 ${at}`);
  const start = at % 1000 === 1 ? 0xff : at % 1000 === 2 ? 0 : 0x55;
  v2.fill(start, 0, 3);
  return renderEntry({ kind: 'proof', v2, v1: NO_COMMITMENT, line: hashOf('') });
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
