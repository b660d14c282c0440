import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import type { Connection } from '../ground/connection.ts';
import { cutUnread } from './connection-limits.ts';

/** The remaining ones of these connections, each given by its unread bytes and since when. */
function left(unread: Record<string, [bytes: number, since: number]>, now: number): string[] {
  const sockets = new Map<string, Socket>();
  const connections = new Map<Socket, Connection>();
  for (const [name, [unreadBytes, unreadSince]] of Object.entries(unread)) {
    const socket = new Socket();
    sockets.set(name, socket);
    connections.set(socket, { unreadBytes, unreadSince } as Connection);
  }
  const limits = { answerBytesInFlightMax: 100, writeTimeoutMs: 1000 };
  cutUnread(connections, { ...({} as Parameters<typeof cutUnread>[1]), ...limits }, now, undefined);
  return [...sockets].filter(([, socket]) => !socket.destroyed).map(([name]) => name);
}

test('unread responses are cut off after their time, whatever their size', () => {
  expect(left({ late: [1, 0], fresh: [1, 500] }, 1001)).toEqual(['fresh']);
});

test('of answers that are too large together, those that waited longest are cut off', () => {
  expect(left({ newest: [60, 30], oldest: [60, 10], old: [30, 20] }, 100)).toEqual(['newest', 'old']);
  expect(left({ a: [50, 10], b: [50, 20] }, 100)).toEqual(['a', 'b']);
});
