import { sha256 } from '@ori/tlog/merkle';

export const DIGEST_CHARACTERS = 32;

/** SHA-256, the first 16 bytes in hex. */
export function digestOf(bytes: Uint8Array): string {
  return Buffer.from(sha256(bytes)).toString('hex').slice(0, DIGEST_CHARACTERS);
}

/** How far a source was read: in which file, up to which byte, and the line that ends there. */
export interface Position {
  /** `digestOf` the file's first line: the same after the file is renamed or copied. */
  readonly file: string;
  readonly offset: number;
  /** The same of the last line read. */
  readonly last: string;
  /** The same of the latest files before this one. */
  readonly done: readonly string[];
}

/** By source: the configured path. */
export type Positions = Readonly<Record<string, Position>>;

/** Lines read and not yet taken. */
export interface Peeked {
  /** Each without its newline. */
  readonly lines: readonly Buffer[];
  /** After the last of them; undefined while there is no line. */
  readonly position: Position | undefined;
  /** Whether these, with those taken before, are all lines that existed when the read began. */
  readonly isAtEnd: boolean;
}
