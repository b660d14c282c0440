import { createServer } from 'node:http';
import { createServer as createTcpServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { serve } from '@ori/test-env/serve';
import { expect, it } from 'vitest';
import { callDaemon } from './daemon.ts';
import { bodyOf, type RequestBody } from './request-body.ts';
import { newTraceparent } from './trace.ts';

const call = (url: string, body: RequestBody) =>
  callDaemon(
    {
      origin: new URL(url),
      path: '/',
      contentType: 'text/plain',
      headers: {},
      body,
      proof: {},
      trace: newTraceparent(),
      silenceSeconds: 1,
    },
    new AbortController().signal,
  );

it('does not take a reader that pauses for a daemon that is silent', async () => {
  const bytes = 20_000_000;
  await using daemon = await serve(createServer((_req, res) => res.end(Buffer.alloc(bytes))));
  const answer = await call(daemon.url, bodyOf(Buffer.of()));
  let read = 0;
  for await (const chunk of answer.body) {
    // Long enough for a limit that counts it.
    if (read === 0) await pause(1500);
    read += chunk.length;
  }
  expect(read).toBe(bytes);
});

it('reads an answer that comes before the daemon has read the body, although it closes then', async () => {
  const answered = Promise.withResolvers<void>();
  await using daemon = await serve(
    createTcpServer((socket) =>
      socket.once('data', () => {
        socket.write('HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 5\r\n\r\nlarge');
        socket.resetAndDestroy();
        answered.resolve();
      }),
    ),
  );
  async function* chunks() {
    yield Buffer.from('some');
    await answered.promise;
    // Before the answer is read.
    yield Buffer.from('more');
  }
  const answer = await call(daemon.url, { ...bodyOf(Buffer.from('somemore')), chunks });
  expect([answer.status, await text(answer.body)]).toEqual([413, 'large']);
});

it('takes a server that switches protocols, which nobody asked for, for one that does not answer', async () => {
  await using daemon = await serve(
    createTcpServer((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      ),
    ),
  );
  await expect(call(daemon.url, bodyOf(Buffer.of()))).rejects.toMatchObject({ code: 'answer_lost' });
});

it('stops sending a body that the daemon has answered, and does not read', async () => {
  await using daemon = await serve(
    createTcpServer((socket) =>
      socket.once('data', () => {
        socket.pause().write('HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nlarge');
      }),
    ),
  );
  const stopped = Promise.withResolvers<void>();
  async function* chunks() {
    try {
      for (;;) yield Buffer.alloc(1_000_000);
    } finally {
      stopped.resolve();
    }
  }
  const answer = await call(daemon.url, { ...bodyOf(Buffer.of()), bytes: 1e12, chunks });
  expect([answer.status, await text(answer.body)]).toEqual([413, 'large']);
  answer.end();
  await stopped.promise;
});
