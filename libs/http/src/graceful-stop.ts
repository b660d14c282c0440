import type { Server } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Connection } from './connection.ts';

/** Someone who connects without end shall not keep the listener open. */
const TURNS_MAX = 10_000;

export interface GracefulStop {
  /** After how long connections are cut that are still busy. */
  graceMs: number;
  /** How long idle connections stay, for a request that is already on its way; none unless given. */
  idleGraceMs?: number;
}

/**
 * Stops accepting, closes idle connections, waits for busy ones and cuts them when the grace is over.
 *
 * @param onIdleOver called when the idle grace is over: from then on no connection may become idle again
 */
export async function stopGracefully(
  server: Server,
  connections: ReadonlyMap<Socket, Connection>,
  { graceMs, idleGraceMs = 0 }: GracefulStop,
  onIdleOver: () => void,
): Promise<void> {
  const cut = setTimeout(() => {
    for (const socket of connections.keys()) socket.destroy();
  }, graceMs);
  await emptyQueue(server);
  const closeIdle = setTimeout(() => {
    onIdleOver();
    for (const [socket, connection] of connections) {
      if (!connection.isBusy) socket.destroy();
    }
  }, idleGraceMs);
  // Not the HTTP server's own close: it would close idle connections at once.
  await new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
  clearTimeout(cut);
  clearTimeout(closeIdle);
  server.close();
}

/**
 * Accepts what waits in the listener's queue, one connection a turn: closing the listener would reset it, and a request may
 * have been sent on it already. Returns right after a turn in which there was none, so that the queue is empty then.
 */
export async function emptyQueue(server: Server): Promise<void> {
  let accepted = 0;
  const count = () => {
    accepted += 1;
  };
  server.on('connection', count);
  for (let before = -1, turns = 0; before !== accepted && turns < TURNS_MAX; turns += 1) {
    before = accepted;
    await turn();
    await turn();
  }
  server.off('connection', count);
}
