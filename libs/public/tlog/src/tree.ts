import { HASH_BYTES, type Hash, leafHash, piecesOf, rootOf } from './merkle.ts';
import { bundled, readTile, subtreesOf, TILE_HEIGHT, TILE_WIDTH, type Tile, type TileId } from './tile.ts';

/** A tile or bundle with its bytes. */
export interface MadeTile extends TileId {
  readonly bytes: Uint8Array;
}

/** The right edge of a tree: all that is needed to append to it. */
export interface Edge {
  readonly size: number;
  /** Entries of the partial bundle, as they are in it. */
  readonly entries: readonly Uint8Array[];
  /** Of each level, the hashes of its partial tile. */
  readonly levels: ReadonlyArray<readonly Hash[]>;
}

const EMPTY: Edge = { size: 0, entries: [], levels: [] };

/** A tree that grows at its right edge. It stores only that edge; full tiles are returned as they fill. */
export function openTree(edge: Edge = EMPTY) {
  let { size } = edge;
  let entries = [...edge.entries];
  const levels = edge.levels.map((hashes) => [...hashes]);

  function push(level: number, hash: Hash, filled: MadeTile[]): void {
    levels[level] ??= [];
    const hashes = levels[level];
    hashes.push(hash);
    if (hashes.length < TILE_WIDTH) return;
    const index = Math.floor((size - 1) / TILE_WIDTH ** (level + 1));
    const bytes = Buffer.concat(hashes);
    filled.push({ level, index, width: TILE_WIDTH, bytes });
    levels[level] = [];
    push(level + 1, readTile(bytes, TILE_WIDTH).node(TILE_HEIGHT, 0), filled);
  }

  return {
    get size(): number {
      return size;
    },
    /** The root of all leaves. */
    root(): Hash {
      const edge = levels.map((hashes) => readTile(Buffer.concat(hashes), hashes.length));
      return rootOf(
        size,
        subtreesOf((level) => edge[level] as Tile),
      );
    },
    /** Appends a leaf. @returns the tiles and the bundle that this leaf has filled */
    append(entry: Uint8Array): MadeTile[] {
      const filled: MadeTile[] = [];
      size += 1;
      entries.push(bundled(entry));
      if (entries.length === TILE_WIDTH) {
        const index = Math.floor((size - 1) / TILE_WIDTH);
        filled.push({ level: 'entries', index, width: TILE_WIDTH, bytes: Buffer.concat(entries) });
        entries = [];
      }
      push(0, leafHash(entry), filled);
      return filled;
    },
    /** The partial tiles and the partial bundle as they are now. */
    partial(): MadeTile[] {
      const tiles = levels.flatMap((hashes, level): MadeTile[] => {
        const index = Math.floor(size / TILE_WIDTH ** (level + 1));
        return hashes.length === 0
          ? []
          : [{ level, index, width: hashes.length, bytes: Buffer.concat(hashes) }];
      });
      const index = Math.floor(size / TILE_WIDTH);
      return entries.length === 0
        ? tiles
        : [{ level: 'entries', index, width: entries.length, bytes: Buffer.concat(entries) }, ...tiles];
    },
    /** A copy of the right edge. */
    edge: (): Edge => ({ size, entries: [...entries], levels: levels.map((hashes) => [...hashes]) }),
  };
}

export type Tree = ReturnType<typeof openTree>;

/** The right edge as text, for a file. */
export function renderEdge({ size, entries, levels }: Edge): string {
  const join = (parts: readonly Uint8Array[]) => Buffer.concat(parts).toString('base64');
  return JSON.stringify({ size, entries: entries.map((one) => join([one])), levels: levels.map(join) });
}

/** Parses the output of `renderEdge`. */
export function parseEdge(text: string): Edge {
  const { size, entries, levels } = JSON.parse(text) as { size: number; entries: string[]; levels: string[] };
  const bytes = (part: string) => Buffer.from(part, 'base64');
  const hashes = (part: string) => piecesOf(bytes(part), HASH_BYTES);
  return { size, entries: entries.map(bytes), levels: levels.map(hashes) };
}
