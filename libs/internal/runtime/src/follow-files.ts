import { stat } from 'node:fs/promises';
import { systemErrorCode } from './system-error-code.ts';

const LOOK_EVERY_MS = 1000;

/**
 * Reads files, and again when one of them changes, until it is closed; a file may be a link that is replaced (a mounted Kubernetes
 * secret). A change ends the reading in progress, so that what was read last is in use. What cannot be read again changes nothing.
 *
 * @param read the signal ends a reading; absent the first time
 * @returns what was read first, and what is in use
 * @throws as the first reading
 */
export async function followFiles<T>(
  files: readonly string[],
  read: (signal?: AbortSignal) => Promise<T>,
  on: { changed(read: T, first: T): void; failed(error: unknown): void },
) {
  // Before they are read, so that no change is missed. `watchFile` begins with what it finds some time later.
  let seen = await statesOf(files);
  const opening = read();
  let inUse: T;
  let reading = new AbortController();
  const look = async () => {
    reading.abort();
    reading = new AbortController();
    const { signal } = reading;
    try {
      const first = await opening;
      const next = await read(signal);
      if (signal.aborted) return;
      inUse = next;
      on.changed(next, first);
    } catch (error) {
      if (!signal.aborted) on.failed(error);
    }
  };
  // A disk that hangs keeps one question, not the process.
  let asking = false;
  const timer = setInterval(async () => {
    if (asking) return;
    asking = true;
    const now = await statesOf(files);
    asking = false;
    if (now !== seen && !reading.signal.aborted) void look();
    seen = now;
  }, LOOK_EVERY_MS);
  timer.unref();
  const close = () => {
    reading.abort();
    clearInterval(timer);
  };
  try {
    const first = await opening;
    inUse = first;
    return { first, inUse: () => inUse, close };
  } catch (error) {
    close();
    throw error;
  }
}

async function statesOf(files: readonly string[]): Promise<string> {
  return (await Promise.all(files.map(stateOf))).join();
}

async function stateOf(file: string): Promise<string> {
  try {
    const { ino, size, mtimeMs } = await stat(file);
    return [ino, size, mtimeMs].join(' ');
  } catch (error) {
    return systemErrorCode(error);
  }
}
