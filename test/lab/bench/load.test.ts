import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { runLoad } from './load.ts';

const STALLED = [500, '{"error":{"code":500,"metadata":{"retryable":true}}}'] as const;
const REFUSED = [500, '{"error":{"code":500,"metadata":{"retryable":false}}}'] as const;
const GOOD = [200, '{}'] as const;

/** Loads a server that gives these responses in turn, then repeats the last one, with one request. */
async function load(...answers: (readonly [number, string])[]) {
  const server = createServer((_request, response) => {
    const [status, body] = (answers.length > 1 ? answers.shift() : answers[0]) ?? GOOD;
    response.writeHead(status, { 'content-length': body.length }).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return runLoad({
    port: (server.address() as AddressInfo).port,
    requests: ['GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    eachOnce: true,
    connections: 1,
    seconds: 10,
    sampleEvery: 1,
  }).finally(() => {
    server.closeAllConnections();
    server.close();
  });
}

test('a retryable request is repeated, and counted once', async () => {
  expect(await load(STALLED, GOOD)).toMatchObject({ answers: 1, repeats: 1 });
});

test.each([
  ['a server that does not recover', [STALLED]],
  ['a response that is not retryable', [REFUSED, GOOD]],
])('%s ends the measurement', async (_, answers) => {
  await expect(load(...answers)).rejects.toThrow('an answer other than 200');
});
