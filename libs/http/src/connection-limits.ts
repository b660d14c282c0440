import type { Socket } from 'node:net';
import type { Limits } from '@ori/runtime/limits';
import type { Metrics } from '@ori/runtime/metrics';
import type { Connection } from './connection.ts';

type Connections = ReadonlyMap<Socket, Connection>;

/** How many connections are looked at for one that is idle, oldest first. */
const LOOKED_AT_MAX = 64;

/** Closes an idle connection for a new one; where the oldest are all busy, the new one goes. */
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

/** Cuts connections whose client does not take its answers: those that had their time, then the slowest, as long as all hold too much. */
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
