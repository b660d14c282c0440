import { readFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Subtrees } from '@ori/tlog/merkle';
import { readTile, subtreesOf, TILE_WIDTH, type TileId, tilePath, tileWidth } from '@ori/tlog/tile';
import type { MadeTile } from '@ori/tlog/tree';
import { ifThere, makeFolder, replaceFile } from './durable-file.ts';

/** The tiles and bundles of a log, as files below one folder under the names of tlog-tiles. */
export async function openTileFiles(folder: string) {
  await makeFolder(folder);
  return {
    /** Resolves once they are durable. A file with the same content is not written again. */
    async write(tiles: readonly MadeTile[]): Promise<void> {
      for (const tile of tiles) {
        const path = join(folder, tilePath(tile));
        if ((await ifThere(readFile(path)))?.equals(tile.bytes)) continue;
        await makeFolder(dirname(path));
        await replaceFile(path, tile.bytes);
      }
      for (const { level, index, width } of tiles) {
        // A client whose checkpoint needs the former partial tile takes it from the full one (tlog-tiles, Partial Tiles).
        if (width !== TILE_WIDTH || index === 0) continue;
        const former = tilePath({ level, index: index - 1, width: 1 });
        await rm(join(folder, dirname(former)), { recursive: true, force: true });
      }
    },
    /** The bytes of an existing tile. */
    read: (tile: TileId) => ifThere(readFile(join(folder, tilePath(tile)))),
    /** The subtrees of a tree whose tiles exist. */
    subtrees(size: number): Subtrees {
      const tiles = new Map<string, ReturnType<typeof readTile>>();
      return subtreesOf((level, index) => {
        const width = tileWidth(level, index, size);
        const path = tilePath({ level, index, width });
        const tile = tiles.get(path) ?? readTile(readWhole(level, index, width, path), width);
        tiles.set(path, tile);
        return tile;
      });
    },
  };

  function readWhole(level: number, index: number, width: number, path: string): Buffer {
    try {
      return readFileSync(join(folder, path));
    } catch {
      const full = readFileSync(join(folder, tilePath({ level, index, width: TILE_WIDTH })));
      return full.subarray(0, width * 32);
    }
  }
}
