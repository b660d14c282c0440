import { close, constants, open, read } from 'node:fs';
import { promisify } from 'node:util';
import { splitLines } from './lines.ts';
import type { Source } from './source.ts';

const openFile = promisify(open);
const closeFile = promisify(close);
const readFile = promisify(read);

/** The default capacity of a pipe on Linux. */
const READ_BYTES = 64 * 1024;
/** How much is read before it has to be taken. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Reads a FIFO. Lines are kept here until they are taken, since they cannot be read twice: those that are here when the
 * process is killed are lost to the log, so a file is the better source.
 */
export async function followPipe(path: string): Promise<Source> {
  const fd = await openFile(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const chunk = Buffer.allocUnsafe(READ_BYTES);
  let waiting: Buffer = Buffer.alloc(0);
  let peeked = 0;

  async function readOnce(): Promise<number> {
    try {
      return (await readFile(fd, chunk, 0, chunk.length, null)).bytesRead;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
      throw error;
    }
  }

  return {
    async peek() {
      let isAtEnd = false;
      while (!isAtEnd && waiting.length < WAITING_BYTES_MAX) {
        const bytes = await readOnce();
        isAtEnd = bytes === 0;
        waiting = Buffer.concat([waiting, chunk.subarray(0, bytes)]);
      }
      const split = splitLines(waiting);
      peeked = split.bytes;
      return { lines: split.lines, position: undefined, isAtEnd };
    },
    take() {
      waiting = waiting.subarray(peeked);
      peeked = 0;
    },
    close: () => closeFile(fd),
  };
}
