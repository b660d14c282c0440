import { once } from 'node:events';
import { createServer } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { createListener } from './listener.ts';

const CONNECTIONS = 64;

/** Connects on another thread, and wakes the one that waits for it. */
const CONNECTING = `
  const { connect } = require('node:net');
  const { port, count, shared } = require('node:worker_threads').workerData;
  const done = new Int32Array(shared);
  for (let index = 0; index < count; index++) {
    connect(port, '127.0.0.1', () => Atomics.notify(done, 0, Number(Atomics.add(done, 0, 1) + 1 === count))).on('error', () => {});
  }
`;

test.skipIf(process.platform !== 'linux')('a burst of connections is accepted several per turn', async () => {
  const server = createServer();
  const listener = createListener(server, { allowHalfOpen: true });
  const port = await listener.open(0, '127.0.0.1');
  let accepted = 0;
  server.on('connection', () => {
    accepted += 1;
  });
  const shared = new SharedArrayBuffer(4);
  const worker = new Worker(CONNECTING, { eval: true, workerData: { port, count: CONNECTIONS, shared } });
  await once(worker, 'online');
  const done = new Int32Array(shared);
  const until = performance.now() + 10_000;
  while (Atomics.load(done, 0) < CONNECTIONS && performance.now() < until)
    Atomics.wait(done, 0, Atomics.load(done, 0), 100);
  for (let turns = 0; turns < CONNECTIONS / 2; turns++) await turn();
  expect(accepted).toBe(CONNECTIONS);
  await worker.terminate();
  server.closeAllConnections();
  await listener.close();
});

test('a port that another service listens on is an error, although sockets could share it', async () => {
  const first = createListener(createServer(), { allowHalfOpen: true });
  const port = await first.open(0, '127.0.0.1');
  const second = createListener(createServer(), { allowHalfOpen: true });
  await expect(second.open(port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await first.close();
  expect(await second.open(port, '127.0.0.1')).toBe(port);
  await second.close();
});
