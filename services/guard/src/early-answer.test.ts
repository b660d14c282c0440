import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTcpServer, Socket } from 'node:net';
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
const guardOf = ({ call }: Pick<Daemon, 'call'>, body: Buffer | Readable, length: number) =>
  createServer((_req, res) => {
    const headers = ['content-length', String(length)];
    call({ method: 'POST', path: '/', headers, body }, res).catch(() => res.destroy());
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
  await using guard = await serve(guardOf(createDaemon(configOf(daemon.url)), body, 8));
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
  const body = Buffer.alloc(16 * 1024 * 1024);
  await using guard = await serve(guardOf(createDaemon(configOf(daemon.url)), body, body.length));
  expect(await (await fetch(guard.url)).text()).toBe('large');
  for (const read of reading) read();
  await ended;
}, 5000);

it('does not wait for the answer to a call whose client has left', async () => {
  await using daemon = await serve(createServer(() => {}));
  const res = new ServerResponse(new IncomingMessage(new Socket()));
  res.destroy();
  await once(res, 'close');
  const call = { method: 'GET', path: '/', headers: ['host', daemon.address], body: undefined };
  await createDaemon(configOf(daemon.url)).call(call, res);
}, 5000);

it('passes on the rest of an answer whose daemon closed the connection before the client read it', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const large = 'x'.repeat(4 * 1024 * 1024);
  await using daemon = await serve(
    createTcpServer((socket) => {
      socket.once('data', () => socket.end(`HTTP/1.0 200 OK\r\n\r\n${large}`)).once('close', () => resolve());
    }),
  );
  const body = Buffer.alloc(0);
  await using guard = await serve(guardOf(createDaemon(configOf(daemon.url)), body, 0));
  const answer = await fetch(guard.url);
  await closed;
  expect((await answer.text()).length).toBe(large.length);
}, 5000);
