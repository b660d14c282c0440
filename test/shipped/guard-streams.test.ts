import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { guardProcess, openGuardWorld } from '../env/guard-world.ts';
import { forgetPeak, peakBytes } from '../env/peak-memory.ts';
import { rawClient } from '../env/raw-client.ts';
import { openRoom } from '../env/room.ts';

const MIB = 1024 * 1024;
const FULL = process.env['GUARD_STREAMS'] === 'full';
const ANSWER_BYTES = (FULL ? 1024 : 64) * MIB;
/** Each stream takes two of the guard, which needs some more. */
const DESCRIPTORS = Number(
  /^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1],
);
const STREAMS = FULL ? Math.min(10_000, Math.floor(DESCRIPTORS / 2) - 50) : 500;
const OPENED_AT_ONCE = 50;
const CALL = { path: '/api', body: '{}', lines: 'Connection: close\r\n' };

/** The guard as it ships, past the seconds in which a new store refuses proofs. */
async function startGuard(daemon: RequestListener, environment: Record<string, string>) {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const world = stack.use(await openGuardWorld({ daemon }));
  const room = stack.use(await openRoom('ori-guard-streams'));
  const { port, guard } = await guardProcess(world, room, environment);
  await guard.start();
  const served = async () => {
    using client = await rawClient(port);
    client.send(world.signed({ ...CALL, path: '/ready' }));
    return (await client.answer()).status;
  };
  await expect.poll(served).toBe(200);
  forgetPeak(guard.pid);
  const open = (): Socket => {
    const socket = connect(port, '127.0.0.1');
    stack.defer(() => void socket.destroy());
    socket.write(world.signed(CALL));
    return socket;
  };
  return { open, peak: () => peakBytes(guard.pid) / MIB };
}

test(`an answer of ${ANSWER_BYTES / MIB} MiB waits in the daemon until the client reads`, {
  timeout: 240_000,
}, async () => {
  const chunk = Buffer.alloc(65_536, 'ori');
  let sent = 0;
  function* parts() {
    for (; sent < ANSWER_BYTES; sent += chunk.length) yield chunk;
  }
  const { open, peak } = await startGuard((req, res) => {
    if (req.url === '/ready') res.end();
    else Readable.from(parts(), { objectMode: false }).pipe(res);
  }, {});
  const before = peak();
  const socket = open().pause();
  let lately = -1;
  const isStalled = () => {
    const isSame = sent > 0 && sent === lately;
    lately = sent;
    return isSame;
  };
  await expect.poll(isStalled, { interval: 100 }).toBe(true);
  // Most of it is in the buffers of the system.
  expect(sent).toBeLessThan(32 * MIB);
  let received = 0;
  for await (const bytes of socket as AsyncIterable<Buffer>) received += bytes.length;
  expect(received).toBeGreaterThan(ANSWER_BYTES);
  console.log(`peak: ${Math.round(before)} MiB before, ${Math.round(peak())} MiB after`);
  expect(peak() - before).toBeLessThan(160);
});

test(`${STREAMS} streams are open at once, and each gets its next event`, { timeout: 240_000 }, async () => {
  const daemon = fork(join(import.meta.dirname, 'stream-daemon.ts'));
  onTestFinished(() => void daemon.kill());
  const [daemonPort] = await once(daemon, 'message');
  const room = String(STREAMS + 10);
  const { open, peak } = await startGuard(() => expect.unreachable(), {
    GUARD_DAEMON_URL: `http://127.0.0.1:${daemonPort}`,
    // Above half of it, a caller who was not served lately is refused.
    GUARD_REQUESTS_IN_FLIGHT_MAX: String(2 * STREAMS + 20),
    GUARD_REQUESTS_IN_FLIGHT_PER_ADDRESS_MAX: room,
    GUARD_REQUESTS_IN_FLIGHT_PER_ACCOUNT_MAX: room,
  });
  const saying = (socket: Socket, word: string) =>
    new Promise<void>((resolve, reject) => {
      const hear = (text: Buffer) => {
        if (!text.includes(word)) return;
        socket.off('data', hear).off('close', fail);
        resolve();
      };
      const fail = () => reject(new Error(`closed before "${word}"`));
      socket.on('data', hear).once('close', fail);
    });
  const before = peak();
  const sockets: Socket[] = [];
  while (sockets.length < STREAMS) {
    const more = Array.from({ length: Math.min(OPENED_AT_ONCE, STREAMS - sockets.length) }, open);
    await Promise.all(more.map((socket) => saying(socket, 'first')));
    sockets.push(...more);
  }
  const second = sockets.map((socket) => saying(socket, 'second'));
  daemon.send('second');
  await Promise.all(second);
  console.log(`peak: ${Math.round(before)} MiB before, ${Math.round(peak())} MiB with ${STREAMS} streams`);
  if (FULL) expect(before + ((peak() - before) * 10_000) / STREAMS).toBeLessThan(512);
  else expect(peak() - before).toBeLessThan(96);
});
