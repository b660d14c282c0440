import { expect, it } from 'vitest';
import { type Hash, nodeHash, type Subtrees } from '../merkle.ts';
import { createTileCache } from './tile-cache.ts';

/** A log of so many leaves, whose hash is their index, and what was fetched of it. */
function openLog(size: number) {
  const fetched: string[] = [];
  const log = {
    fetched,
    /** Paths that it does not have. */
    gone: (_path: string): boolean => false,
    /** Flips a bit in each tile. */
    isFaulty: false,
    /** How many results were judged, right and wrong. */
    judged: { right: 0, wrong: 0 },
    /** What was fetched since it was asked the last time. */
    since: () => fetched.splice(0),
  };
  const leaf = (index: number) => {
    const bytes = Buffer.alloc(32);
    bytes.writeUInt32BE(index, 28);
    return bytes;
  };
  const cache = createTileCache({
    async get(path, bytesMax) {
      fetched.push(path);
      const [, index = '', width = '256'] = /^tile\/0\/([x\d/]+)(?:\.p\/(\d+))?$/.exec(path) ?? [];
      if (log.gone(path)) return undefined;
      const first = Number(index.replaceAll(/[x/]/g, '')) * 256;
      const bytes = Buffer.concat(Array.from({ length: Number(width) }, (_, at) => leaf(first + at)));
      if (log.isFaulty) bytes.writeUInt8(1, 0);
      expect(bytes.length).toBeLessThanOrEqual(bytesMax);
      return bytes;
    },
    post: () => expect.unreachable(),
  });
  /** Reads leaf hashes, which verify if they are those of the log. */
  const read = (...indices: readonly number[]) =>
    cache.compute(
      size,
      (subtrees: Subtrees) => indices.map((index) => subtrees(0, index)),
      (hashes: readonly Hash[]) => {
        const isRight = hashes.every((hash, at) => leaf(indices[at] ?? 0).equals(hash));
        log.judged[isRight ? 'right' : 'wrong'] += 1;
        return isRight;
      },
    );
  return { log, cache, read, leaf };
}

it('fetches a tile once that has verified', async () => {
  const { log, read, leaf } = openLog(300);
  expect(await read(0, 256)).toEqual([leaf(0), leaf(256)]);
  expect(log.since()).toEqual(['tile/0/000', 'tile/0/001.p/44']);
  expect(await read(0, 257)).toEqual([leaf(0), leaf(257)]);
  expect(log.since()).toEqual([]);
});

it('keeps no tile of a computation that did not verify, asks once, and computes nothing from it again', async () => {
  const { log, read } = openLog(300);
  log.isFaulty = true;
  expect(await read(0)).toBeUndefined();
  expect(log.since()).toEqual(['tile/0/000']);
  expect(log.judged).toEqual({ right: 0, wrong: 1 });
  log.isFaulty = false;
  expect(await read(0)).toBeDefined();
  expect(log.since()).toEqual(['tile/0/000']);
  expect(log.judged).toEqual({ right: 1, wrong: 1 });
});

it('drops kept tiles that do not verify, and fetches them once more', async () => {
  const { log, read } = openLog(600);
  log.isFaulty = true;
  // Of the two hashes that are wrong in the tiles, this computation verifies none.
  expect(await read(1, 257)).toBeDefined();
  log.since();
  expect(await read(0, 256)).toBeUndefined();
  expect(log.since()).toEqual(['tile/0/000', 'tile/0/001']);
  await read(1, 257);
  log.since();
  log.isFaulty = false;
  expect(await read(0, 256)).toBeDefined();
  expect(log.since()).toEqual(['tile/0/000', 'tile/0/001']);
});

it('takes the full tile where the partial one is gone', async () => {
  const { log, read, leaf } = openLog(300);
  log.gone = (path) => path.includes('.p/');
  expect(await read(299)).toEqual([leaf(299)]);
  expect(log.since()).toEqual(['tile/0/001.p/44', 'tile/0/001']);
  const both = openLog(300);
  both.log.gone = () => true;
  await expect(both.read(299)).rejects.toMatchObject({ code: 'unavailable' });
});

it('takes a tile of another length for malformed', async () => {
  const cache = createTileCache({ get: async () => Buffer.alloc(31), post: () => expect.unreachable() });
  const compute = cache.compute(
    1,
    (subtrees) => subtrees(0, 0),
    () => true,
  );
  await expect(compute).rejects.toMatchObject({ code: 'malformed' });
});

it('computes nodes above the hashes of a tile', async () => {
  const { cache, leaf } = openLog(300);
  const node = await cache.compute(
    300,
    (subtrees) => subtrees(1, 1),
    () => true,
  );
  expect(node).toEqual(nodeHash(leaf(2), leaf(3)));
});

it('keeps 1,024 tiles, and drops the oldest beyond them', async () => {
  const { log, read } = openLog(1025 * 256);
  for (let tile = 0; tile < 1024; tile++) await read(tile * 256);
  log.since();
  await read(0, 1023 * 256);
  expect(log.since()).toEqual([]);
  await read(1024 * 256);
  await read(1 * 256, 1024 * 256);
  expect(log.since()).toEqual(['tile/0/x001/024']);
  await read(0);
  expect(log.since()).toEqual(['tile/0/000']);
});
