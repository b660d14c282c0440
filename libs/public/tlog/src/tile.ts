import { HASH_BYTES, type Hash, nodeHash, piecesOf, type Subtrees } from './merkle.ts';
import { TlogError } from './tlog-error.ts';

/** Hashes in a full tile, and entries in a full bundle (tlog-tiles). */
export const TILE_WIDTH = 256;
export const TILE_HEIGHT = 8;

/** A tile of hashes at a level, or a bundle of entries. */
export interface TileId {
  readonly level: number | 'entries';
  readonly index: number;
  /** 1 to 256; below that the tile is partial. */
  readonly width: number;
}

/** The path of a tile below the log's prefix: `tile/0/x001/x234/067.p/5`. */
export function tilePath({ level, index, width }: TileId): string {
  const groups: string[] = [];
  let rest = index;
  do {
    groups.unshift(String(rest % 1000).padStart(3, '0'));
    rest = Math.floor(rest / 1000);
  } while (rest > 0);
  const last = groups.pop();
  const path = [...groups.map((group) => `x${group}`), last].join('/');
  return `tile/${level}/${path}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

const TILE_PATH =
  /^tile\/(entries|[0-9]|[1-5][0-9]|6[0-3])\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;

/** The tile that a path names; undefined for any other spelling. */
export function parseTilePath(path: string): TileId | undefined {
  const [, level, digits, width] = TILE_PATH.exec(path) ?? [];
  if (digits === undefined) return undefined;
  const index = Number(digits.replace(/[x/]/g, ''));
  const tile = {
    level: level === 'entries' ? level : Number(level),
    index,
    width: width === undefined ? TILE_WIDTH : Number(width),
  } as const;
  return tilePath(tile) === path ? tile : undefined;
}

/** How many hashes a tile has in a tree of `size` leaves: 0 where it is not there at all. */
export function tileWidth(level: number | 'entries', index: number, size: number): number {
  const hashes = Math.floor(size / TILE_WIDTH ** (level === 'entries' ? 0 : level));
  return Math.max(0, Math.min(TILE_WIDTH, hashes - index * TILE_WIDTH));
}

/** The hashes of one tile, and of the nodes above them as far as they are complete. */
export interface Tile {
  /** @param height 0 to 8, counted from the tile's own hashes */
  node(height: number, index: number): Hash;
}

/** @throws TlogError `malformed` for bytes that are not `width` hashes */
export function readTile(bytes: Uint8Array, width: number): Tile {
  if (bytes.length !== width * HASH_BYTES) {
    throw new TlogError('malformed', `a tile of width ${width} has ${bytes.length} bytes`);
  }
  const rows = [piecesOf(bytes, HASH_BYTES)];
  function node(height: number, index: number): Hash {
    rows[height] ??= [];
    const row = rows[height];
    const known = row[index];
    if (known !== undefined) return known;
    if (height === 0) throw new TlogError('malformed', 'a tile is too narrow');
    const made = nodeHash(node(height - 1, 2 * index), node(height - 1, 2 * index + 1));
    row[index] = made;
    return made;
  }
  return { node };
}

/** Which tile holds a complete subtree, and where in it. */
function placeOf(
  height: number,
  index: number,
): { level: number; tile: number; height: number; index: number } {
  const level = Math.floor(height / TILE_HEIGHT);
  const within = height % TILE_HEIGHT;
  const perTile = TILE_WIDTH / 2 ** within;
  return { level, tile: Math.floor(index / perTile), height: within, index: index % perTile };
}

/** Subtrees out of tiles. */
export function subtreesOf(tile: (level: number, index: number) => Tile): Subtrees {
  return (height, index) => {
    const place = placeOf(height, index);
    return tile(place.level, place.tile).node(place.height, place.index);
  };
}

/** The tiles, in a tree of `size` leaves, that `compute` will ask for. */
export function tilesFor(size: number, compute: (subtrees: Subtrees) => unknown): TileId[] {
  const tiles = new Map<string, TileId>();
  const nothing = new Uint8Array(HASH_BYTES);
  compute((height, index) => {
    const { level, tile } = placeOf(height, index);
    const id = { level, index: tile, width: tileWidth(level, tile, size) };
    tiles.set(tilePath(id), id);
    return nothing;
  });
  return [...tiles.values()];
}

/** The entries of a bundle. @throws TlogError `malformed` */
export function readEntries(bundle: Uint8Array): Uint8Array[] {
  const entries: Uint8Array[] = [];
  let at = 0;
  while (at + 2 <= bundle.length && entries.length < TILE_WIDTH) {
    const length = ((bundle[at] ?? 0) << 8) | (bundle[at + 1] ?? 0);
    entries.push(bundle.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
  if (at !== bundle.length) throw new TlogError('malformed', 'a bundle ends within an entry or has too many');
  return entries;
}

/** One entry as it is in a bundle: its length in two bytes, big-endian, before it. */
export function bundled(entry: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(2 + entry.length);
  bytes[0] = entry.length >> 8;
  bytes[1] = entry.length & 0xff;
  bytes.set(entry, 2);
  return bytes;
}
