import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Connection } from './connection.ts';

export interface GracefulStop {
  /** After how long connections are cut that are still busy. */
  graceMs: number;
  /** How long idle connections stay, for a request that is already on its way; none unless given. */
  idleGraceMs?: number;
}

/** Stops accepting, closes idle connections, waits for busy ones and cuts them when the grace is over. */
export async function stopGracefully(
  server: Server,
  connections: ReadonlyMap<Socket, Connection>,
  { graceMs, idleGraceMs = 0 }: GracefulStop,
): Promise<void> {
  const cut = setTimeout(() => {
    for (const socket of connections.keys()) socket.destroy();
  }, graceMs);
  const closeIdle = setTimeout(() => {
    for (const [socket, connection] of connections) {
      if (isIdle(connection)) socket.destroy();
    }
  }, idleGraceMs);
  // Not the HTTP server's own close: it would close idle connections at once.
  await new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
  clearTimeout(cut);
  clearTimeout(closeIdle);
  server.close();
}

function isIdle({ current, firstByteAt, lingering }: Connection): boolean {
  return current === undefined && firstByteAt === undefined && !lingering;
}
