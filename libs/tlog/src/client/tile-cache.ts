import type { Subtrees } from '../merkle.ts';
import {
  readTile,
  subtreesOf,
  TILE_WIDTH,
  type Tile,
  type TileId,
  tilePath,
  tilesFor,
  tileWidth,
} from '../tile.ts';
import { TlogError } from '../tlog-error.ts';
import type { LogTransport } from './fetch-log.ts';

const TILE_BYTES_MAX = 8192;
/** 8 KiB each, and as much again for the nodes above. */
const TILES_MAX = 1024;

/** The tiles of a log, each fetched once. Tiles are not verified; proofs computed from them are. */
export interface TileCache {
  /** Fetches the tiles that a computation on a tree of `size` leaves needs, then runs it. @throws TlogError `unavailable`, `malformed` */
  compute<T>(size: number, compute: (subtrees: Subtrees) => T): Promise<T>;
}

export function createTileCache(transport: LogTransport): TileCache {
  const tiles = new Map<string, Tile>();

  async function fetchTile(tile: TileId): Promise<void> {
    const path = tilePath(tile);
    if (tiles.has(path)) return;
    const bytes =
      (await transport.get(path, TILE_BYTES_MAX)) ??
      // A partial tile may be gone once the full one is there (tlog-tiles, Partial Tiles).
      (await transport.get(tilePath({ ...tile, width: TILE_WIDTH }), TILE_BYTES_MAX))?.subarray(
        0,
        tile.width * 32,
      );
    if (bytes === undefined) throw new TlogError('unavailable', `the log has no ${path}`);
    tiles.set(path, readTile(bytes, tile.width));
  }

  return {
    async compute(size, compute) {
      await Promise.all(tilesFor(size, compute).map(fetchTile));
      const result = compute(
        subtreesOf((level, index) => {
          const path = tilePath({ level, index, width: tileWidth(level, index, size) });
          const tile = tiles.get(path);
          if (tile === undefined) throw new TlogError('unavailable', `the log has no ${path}`);
          return tile;
        }),
      );
      for (const path of tiles.keys()) {
        if (tiles.size <= TILES_MAX) break;
        tiles.delete(path);
      }
      return result;
    },
  };
}
