import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Connection } from '../ground/connection.ts';
import type { Listener } from './listener.ts';

/** Limits how long a stream of new connections can keep the listener open. */
const TURNS_MAX = 10_000;

export interface GracefulStop {
  /** After how long busy connections are cut, in milliseconds. */
  graceMs: number;
  /** How long idle connections stay open for requests that are already on their way, in milliseconds; 0 by default. */
  idleGraceMs?: number;
}

interface Stopped {
  readonly server: Server;
  readonly listener: Listener;
  readonly connections: ReadonlyMap<Socket, Connection>;
}

/**
 * Stops accepting, closes idle connections, waits for busy ones and cuts them when the grace period ends.
 *
 * @param onIdleOver called when the idle grace period ends: from then on no connection may become idle again
 */
export async function stopGracefully(
  { server, listener, connections }: Stopped,
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
  await listener.close();
  clearTimeout(cut);
  clearTimeout(closeIdle);
  server.close();
}

/**
 * Accepts the connections in the listener's queues, one of each per turn of the event loop: closing the listener would reset
 * them, and a request may already have been sent. Returns after a turn without a new connection, when the queue is
 * empty.
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
