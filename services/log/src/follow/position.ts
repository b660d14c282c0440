/** How far a source was read: in which file, up to which byte, and the line that ends there. */
export interface Position {
  /** SHA-256 of the file's first line, the first 16 bytes in hex: the same after the file is renamed or copied. */
  readonly file: string;
  readonly offset: number;
  /** Of the last line read, likewise. */
  readonly last: string;
  /** The files before this one, likewise; the latest ones. */
  readonly done: readonly string[];
}

/** By source: the path that the signer was told. */
export type Positions = Readonly<Record<string, Position>>;
