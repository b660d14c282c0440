import type { Socket } from 'node:net';
import type { Limits } from '@ori/runtime/limits';
import type { Metrics } from '@ori/runtime/metrics';
import type { Connection } from '../ground/connection.ts';

type Connections = ReadonlyMap<Socket, Connection>;

/** How many connections are searched for an idle one, oldest first. */
const LOOKED_AT_MAX = 64;

/** Closes an idle connection for a new one; if the oldest are all busy, closes the new one. */
export function makeRoom(connections: Connections, arriving: Socket, metrics: Metrics | undefined): void {
  metrics?.budgetExhausted('connections');
  let looked = 0;
  for (const [socket, connection] of connections) {
    if (!connection.isBusy) return void socket.destroy();
    looked += 1;
    if (looked === LOOKED_AT_MAX) break;
  }
  arriving.destroy();
}

/**
 * Closes connections whose client does not read its answers: those over the time limit, then the slowest, while the
 * total is too large.
 */
export function cutUnread(
  connections: Connections,
  { answerBytesInFlightMax, writeTimeoutMs }: Limits,
  now: number,
  metrics: Metrics | undefined,
): void {
  const waiting = [...connections].flatMap(([socket, { unreadBytes: bytes, unreadSince: since }]) =>
    since === undefined || bytes === 0 ? [] : [{ socket, bytes, since }],
  );
  let held = waiting.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { socket, bytes, since } of waiting.sort((a, b) => a.since - b.since)) {
    const isLate = now - since > writeTimeoutMs;
    if (!isLate && held <= answerBytesInFlightMax) return;
    held -= bytes;
    metrics?.budgetExhausted(isLate ? 'write_time' : 'answers');
    socket.destroy();
  }
}
