import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { Readable } from 'node:stream';
import { serve } from '@ori/test-env/serve';
import { expect, it } from 'vitest';
import { loadGuardConfig } from './config.ts';
import { createDaemon, type Daemon } from './daemon.ts';

const configOf = (daemonUrl: string) =>
  loadGuardConfig({
    GUARD_INTERN_ID: 'int_1',
    GUARD_KEYS_URL: 'http://127.0.0.1:1/v1/interns/int_1/daemon/jwks.json',
    GUARD_DAEMON_URL: daemonUrl,
    GUARD_DAEMON_IDLE_MS: '60000',
  });

/** A server that passes each call on, with this body. */
const guardOf = ({ call }: Pick<Daemon, 'call'>, body: Buffer, done: () => void) =>
  createServer((_req, res) => {
    const headers = ['content-length', String(body.length)];
    call({ method: 'POST', path: '/', headers, body }, res).then(done, () => res.destroy());
  });

it('passes on an answer that comes before the daemon has read the body, although it closes then', async () => {
  const body = new Readable({ read() {} });
  await using daemon = await serve(
    createTcpServer((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 5\r\n\r\nlarge');
        socket.resetAndDestroy();
        // Before the guard has read the answer.
        body.push('more');
      }),
    ),
  );
  const { call } = createDaemon(configOf(daemon.url));
  await using guard = await serve(
    createServer((_req, res) => {
      const headers = ['content-length', '8'];
      call({ method: 'POST', path: '/', headers, body }, res).catch(() => res.destroy());
    }),
  );
  body.push('some');
  const answer = await fetch(guard.url);
  expect([answer.status, await answer.text()]).toEqual([413, 'large']);
});

it('stops sending a body that the daemon has answered and does not read', async () => {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const reading: (() => void)[] = [];
  await using daemon = await serve(
    createTcpServer((socket) => {
      socket.once('data', () => {
        socket.pause().write('HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nlarge');
        reading.push(() => socket.resume());
      });
      socket.on('error', () => {}).once('close', () => resolve());
    }),
  );
  await using guard = await serve(
    guardOf(createDaemon(configOf(daemon.url)), Buffer.alloc(16 * 1024 * 1024), () => {}),
  );
  expect(await (await fetch(guard.url)).text()).toBe('large');
  for (const read of reading) read();
  await ended;
}, 5000);
