import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { linkSync, lstatSync, renameSync, rmSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A socket that is younger, in milliseconds, may be of a process that is about to answer. */
const YOUNG_MS = 250;

/**
 * Listens on a Unix socket, and replaces one that a process left behind, which nobody answers. Closing the server removes it.
 *
 * @throws Error if another process listens on it, or its path is too long for a socket
 */
export async function listenAlone(server: Server, path: string): Promise<void> {
  for (;;) {
    try {
      server.listen(path);
      await once(server, 'listening');
      return;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EINVAL') throw new Error(`${path} is too long for a socket`, { cause: error });
      if (code !== 'EADDRINUSE') throw error;
    }
    if (await isAnswered(path)) throw new Error(`${path} is in use by another process; stop it first`);
    if (isYoung(path)) await pause(YOUNG_MS / 5);
    else removeOld(path);
  }
}

function isYoung(path: string): boolean {
  const there = lstatSync(path, { throwIfNoEntry: false });
  return there !== undefined && Math.abs(Date.now() - there.mtimeMs) < YOUNG_MS;
}

/** By another name first: a process that starts now may just have replaced what nobody answered, and must not lose its own. */
function removeOld(path: string): void {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  if (isYoung(aside)) linkSync(aside, path);
  rmSync(aside);
}

async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    return !['ECONNREFUSED', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '');
  } finally {
    socket.destroy();
  }
}
