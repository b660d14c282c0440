import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { startApiServer } from '@ori/http/server';
import { expect, test } from 'vitest';
import { type Gateway, NGINX, startGateway } from '../env/gateway.ts';
import { END_STREAM, type Field, headersFrame, isOver, lastStreamOf, opening } from './http2-frames.ts';

const IDLE_MS = 500;
const CONNECTIONS = 20;
const request = (path: string): readonly Field[] => [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':authority', 'localhost'],
  [':path', path],
];

test.skipIf(NGINX === undefined)(
  'an HTTP/2 request that crosses with the end of its idle connection is refused as not processed, never lost',
  async () => {
    const received: (string | undefined)[] = [];
    const service = await startApiServer({
      app: (req, res) => {
        received.push(req.url);
        res.end('ok');
      },
      ...{ host: '127.0.0.1', port: 0, deadlineMs: 5000 },
    });
    const address = `127.0.0.1:${service.port}`;
    try {
      await using gateway = await startGateway({
        ...{ signers: [address], management: [address] },
        site: { 'listen.conf': `keepalive_timeout ${IDLE_MS}ms;\n` },
      });
      const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => openIdle(gateway)));
      await pause(IDLE_MS / 2);
      // Sees nothing while the gateway closes, like a client whose packets cross with the gateway's.
      const closed = performance.now() + IDLE_MS;
      while (performance.now() < closed);
      for (const socket of sockets) socket.write(headersFrame(3, request('/v1/second'), END_STREAM));
      expect(new Set(await Promise.all(sockets.map(lastStream)))).toEqual(new Set([1]));
      expect(received.filter((url) => url === '/v1/second')).toEqual([]);
      expect(received.filter((url) => url === '/v1/first')).toHaveLength(CONNECTIONS);
    } finally {
      await service.stop({ graceMs: 0 });
    }
  },
);

/** A connection whose one request was answered. */
async function openIdle({ securePort: port, certificate: ca }: Gateway): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', ca, ALPNProtocols: ['h2'] });
  await once(socket, 'secureConnect');
  socket.write(Buffer.concat([opening(), headersFrame(1, request('/v1/first'), END_STREAM)]));
  let bytes = Buffer.alloc(0);
  while (!isOver(bytes)) bytes = Buffer.concat([bytes, (await once(socket, 'data'))[0]]);
  return socket;
}

/** What the gateway says that it processed, or the error that took its word away. */
function lastStream(socket: TLSSocket): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
    });
    socket.once('error', (error: Error & { code?: string }) => resolve(error.code));
    socket.once('end', () => resolve(lastStreamOf(bytes)));
  });
}
