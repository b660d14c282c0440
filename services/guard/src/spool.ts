import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { explainSystemError } from '@ori/faces/system-error';

/** How many bytes may wait for the disk before the sender is paused. */
const WAITING_BYTES_MAX = 1024 * 1024;

/** How much of one body is kept in memory. */
const MEMORY_BYTES_MAX = 64 * 1024;

/** The body could not be stored on disk. */
export class SpoolError extends Error {
  /** For the operator; names no secret. */
  readonly explanation: string;

  constructor(cause: unknown) {
    super('the body could not be stored', { cause });
    this.name = 'SpoolError';
    this.explanation = explainSystemError(cause);
  }
}

/**
 * Keeps a body in memory up to a limit, and beyond it in an unlinked file, which does not outlive the process.
 *
 * @param folder undefined: the whole body stays in memory
 */
export function createSpool(req: IncomingMessage, folder: string | undefined) {
  let kept: Buffer[] = [];
  let length = 0;
  let waiting = 0;
  let file: Promise<FileHandle> | undefined;
  let written: Promise<void> = Promise.resolve();

  function write(handle: Promise<FileHandle>, chunk: Buffer): void {
    waiting += chunk.length;
    if (waiting > WAITING_BYTES_MAX) req.pause();
    written = written.then(async () => {
      await (await handle).appendFile(chunk);
      waiting -= chunk.length;
      if (req.isPaused() && waiting <= WAITING_BYTES_MAX) req.resume();
    });
    // `body` throws it; until then the rest of the body is read and discarded.
    written.catch(() => req.resume());
  }

  return {
    get length() {
      return length;
    },
    /** @returns how many bytes of the chunk stay in memory */
    push(chunk: Buffer): number {
      length += chunk.length;
      if (folder === undefined || length <= MEMORY_BYTES_MAX) {
        kept.push(chunk);
        return chunk.length;
      }
      file ??= openUnlinked(folder);
      for (const each of [...kept, chunk]) write(file, each);
      kept = [];
      return 0;
    },
    /** Once, after the last chunk. @throws {SpoolError} */
    async body(): Promise<Buffer | Readable> {
      if (file === undefined) return kept.length === 1 && kept[0] ? kept[0] : Buffer.concat(kept);
      try {
        await written;
        return (await file).createReadStream({ start: 0, autoClose: false });
      } catch (error) {
        throw new SpoolError(error);
      }
    },
    async close(): Promise<void> {
      if (file === undefined) return;
      await written.catch(() => undefined);
      await (await file.catch(() => undefined))?.close();
    },
  };
}

async function openUnlinked(folder: string): Promise<FileHandle> {
  const path = join(folder, `body-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  return handle;
}
