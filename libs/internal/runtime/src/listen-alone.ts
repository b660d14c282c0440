import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, type Server } from 'node:net';

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
    await rm(path, { force: true });
  }
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
