import type { Position } from './position.ts';

/** Lines read and not yet taken. */
export interface Peeked {
  /** Each without its newline. */
  readonly lines: readonly Buffer[];
  /** After the last of them; undefined while there is no line. */
  readonly position: Position | undefined;
  /** Whether these, with those taken before, are all lines that existed when the read began. */
  readonly isAtEnd: boolean;
}

/** The audit lines of one signer, in the order in which it wrote them. */
export interface Source {
  /** The next lines. The same ones again until they are taken. @throws LogError, or as the file system does */
  peek(): Promise<Peeked>;
  /** Marks the lines of the last `peek` as appended to the tree. */
  take(): void;
  close(): Promise<void>;
}
