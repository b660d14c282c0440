import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { type LoadOrder, runLoad } from './load.ts';

const STALLED = [500, '{"error":{"code":500,"metadata":{"retryable":true}}}'] as const;
const REFUSED = [500, '{"error":{"code":500,"metadata":{"retryable":false}}}'] as const;
const GOOD = [200, '{}'] as const;

type Scripted = typeof STALLED | typeof REFUSED | typeof GOOD;

/** A server that gives these responses in turn, then repeats the last one. */
async function startScripted(answers: Scripted[]) {
  const server = createServer((_request, response) => {
    const [status, body] = (answers.length > 1 ? answers.shift() : answers[0]) as Scripted;
    response.writeHead(status, { 'content-length': body.length }).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const order: LoadOrder = {
    port: (server.address() as AddressInfo).port,
    requests: ['GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ...{ eachOnce: true, connections: 1, seconds: 10, sampleEvery: 1 },
  };
  return {
    order,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

test('repeats a retryable request and counts it once', async () => {
  await using scripted = await startScripted([STALLED, GOOD]);
  expect(await runLoad(scripted.order)).toMatchObject({ answers: 1, repeats: 1 });
});

test('stops if the server does not recover', async () => {
  await using scripted = await startScripted([STALLED]);
  await expect(runLoad(scripted.order)).rejects.toThrow('an answer other than 200');
});

test('stops at the first response that is not retryable', async () => {
  await using scripted = await startScripted([REFUSED, GOOD]);
  await expect(runLoad(scripted.order)).rejects.toThrow('an answer other than 200');
});
