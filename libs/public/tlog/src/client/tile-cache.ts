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

/** The tiles of a log. They are not verified themselves; what is computed from them is. */
export function createTileCache(transport: LogTransport) {
  const kept = new Map<string, Tile>();

  async function fetchTile(tile: TileId): Promise<Tile> {
    const path = tilePath(tile);
    const bytes =
      (await transport.get(path, TILE_BYTES_MAX)) ??
      // A partial tile may be deleted once the full one exists (tlog-tiles, Partial Tiles).
      (await transport.get(tilePath({ ...tile, width: TILE_WIDTH }), TILE_BYTES_MAX))?.subarray(
        0,
        tile.width * 32,
      );
    if (bytes === undefined) throw new TlogError('unavailable', `the log has no ${path}`);
    return readTile(bytes, tile.width);
  }

  function keep(tiles: ReadonlyMap<string, Tile>): void {
    for (const [path, tile] of tiles) kept.set(path, tile);
    for (const path of kept.keys()) {
      if (kept.size <= TILES_MAX) break;
      kept.delete(path);
    }
  }

  return {
    /**
     * Fetches the tiles that a computation on a tree of `size` leaves needs, then runs it. Tiles are kept if the result
     * verifies. If it does not and kept tiles were among them, they are dropped and the computation runs once more on
     * fresh ones, so that one bad answer of the log does no lasting harm.
     *
     * @returns undefined if the result does not verify
     * @throws TlogError `unavailable`, `malformed`
     */
    async compute<T>(
      size: number,
      compute: (subtrees: Subtrees) => T,
      verify: (result: T) => boolean,
    ): Promise<T | undefined> {
      const needed = tilesFor(size, compute);
      for (;;) {
        const known = needed.filter((tile) => kept.has(tilePath(tile)));
        const tiles = new Map(
          await Promise.all(
            needed.map(async (tile) => {
              const path = tilePath(tile);
              return [path, kept.get(path) ?? (await fetchTile(tile))] as const;
            }),
          ),
        );
        const result = compute(
          subtreesOf((level, index) => {
            // It is there: the same computation has told which tiles it needs.
            return tiles.get(tilePath({ level, index, width: tileWidth(level, index, size) })) as Tile;
          }),
        );
        if (verify(result)) {
          keep(tiles);
          return result;
        }
        if (known.length === 0) return undefined;
        for (const tile of known) kept.delete(tilePath(tile));
      }
    },
  };
}
