import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Socket } from 'node:net';
import { expect, test } from 'vitest';
import { watchAcceptDelay } from './accept-delay.ts';

test('a connection that is not accepted yet counts, and so does the one that was', async () => {
  // Accepts in place of the kernel's queue: the server sees a connection when the test passes it on.
  const waiting: Socket[] = [];
  const queue = createNetServer((socket) => void waiting.push(socket)).listen(0, '127.0.0.1');
  await once(queue, 'listening');
  const server = createServer();
  const waits: [number, boolean][] = [];
  const { port } = queue.address() as AddressInfo;
  const delay = watchAcceptDelay(server, { port, host: '127.0.0.1' }, (...wait) => waits.push(wait));
  await expect.poll(() => delay.takeWorst()).toBeGreaterThan(300);
  expect(waiting).toHaveLength(1);
  const [socket] = waiting;
  server.emit('connection', socket);
  expect(socket?.destroyed).toBe(true);
  expect(waits.at(0)).toEqual([expect.any(Number), false]);
  expect(waits.at(-1)).toEqual([expect.any(Number), true]);
  expect(delay.takeWorst()).toBeGreaterThan(300);
  expect(delay.takeWorst()).toBe(0);
  delay.stop();
  queue.close();
});
