import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, resolve } from 'node:path';
import { listenAlone } from './listen-alone.ts';

/**
 * Locks a folder by listening on the socket `<folder>.lock`: the system ends the lock with its process. The id of a process
 * would not do: after a restart of the machine another program may have it, and in two containers two programs have it.
 *
 * @returns releases the lock
 * @throws Error if another process holds the lock, or the path is too long for a socket
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = `${resolve(folder)}.lock`;
  await mkdir(dirname(path), { recursive: true });
  const lock = createServer((socket) => socket.destroy()).unref();
  await listenAlone(lock, path);
  return async () => {
    if (!lock.listening) return;
    lock.close();
    await once(lock, 'close');
  };
}
