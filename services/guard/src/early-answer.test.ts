import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { Readable } from 'node:stream';
import { serve } from '@ori/test-env/serve';
import { expect, it } from 'vitest';
import { loadGuardConfig } from './config.ts';
import { createDaemon } from './daemon.ts';

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
  const config = loadGuardConfig({
    GUARD_INTERN_ID: 'int_1',
    GUARD_KEYS_URL: 'http://127.0.0.1:1/v1/interns/int_1/daemon/jwks.json',
    GUARD_DAEMON_URL: daemon.url,
  });
  const { call } = createDaemon(config);
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
