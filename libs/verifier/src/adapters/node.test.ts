import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLocalKeySet, type KeySet } from '../keys/local.ts';
import type { ReplayStore } from '../replay/replay-store.ts';
import { createTestReplayStore, createTestSigner } from '../testing.ts';
import { createVerifier } from '../verifier.ts';
import { type Proven, requireProof } from './node.ts';

const PATH = '/api/invoke';
const BODY = '{"prompt":"hello"}';

interface Parts {
  keys?: KeySet;
  replay?: ReplayStore;
}

async function world({ keys, replay }: Parts = {}) {
  const signer = createTestSigner({ internId: 'int_1' });
  const verifier = createVerifier({
    internId: 'int_1',
    keys: keys ?? createLocalKeySet(signer.jwks),
    replay: replay ?? createTestReplayStore(),
  });
  const handler = vi.fn<(proven: Proven) => void>();
  const server: Server = createServer(
    requireProof(verifier, { bodyBytesMax: 1000 }, (_request, response, proven) => {
      handler(proven);
      response.end(proven.proof.user);
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const headers = { 'content-type': 'application/json', ...signer.sign({ path: PATH, body: BODY }) };
  const call = () => fetch(`http://127.0.0.1:${port}${PATH}`, { method: 'POST', body: BODY, headers });
  return { server, port, headers, call, handler };
}

test('hands proof and body to the handler, once', async () => {
  const { call, handler } = await world();
  expect(await (await call()).text()).toBe('user_test');
  expect((await call()).status).toBe(401);
  expect(handler).toHaveBeenCalledTimes(1);
  expect(handler.mock.calls[0]?.[0].body.toString()).toBe(BODY);
});

test.each([
  ['is cut off by the client', `content-length: ${BODY.length}\r\n\r\n${BODY.slice(0, 5)}`, true],
  ['has a malformed chunk', 'transfer-encoding: chunked\r\n\r\nzz\r\n', false],
])('does not call the handler for a body that %s', async (_name, rest, disconnects) => {
  const { server, port, headers, handler } = await world();
  const lines = Object.entries({ host: 'daemon', ...headers }).map((pair) => pair.join(': '));
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  const requested = once(server, 'request');
  socket.write(`POST ${PATH} HTTP/1.1\r\n${lines.join('\r\n')}\r\n${rest}`);
  const [request, response] = await requested;
  const closed = once(response, 'close');
  request.once('error', () => undefined);
  if (disconnects) socket.resetAndDestroy();
  else socket.resume();
  await closed;
  expect(handler).not.toHaveBeenCalled();
});

test.each<[string, Parts]>([
  [
    'a key set',
    {
      keys: {
        current: () => {
          throw new Error('broken');
        },
      } as unknown as KeySet,
    },
  ],
  [
    'a replay store',
    { replay: { spend: () => Promise.reject(new Error('broken')) } as unknown as ReplayStore },
  ],
])('answers 500 and does not call the handler when %s throws', async (_name, parts) => {
  const { call, handler } = await world(parts);
  const warned = once(process, 'warning');
  const response = await call();
  expect(response.status).toBe(500);
  expect(await response.json()).toEqual({ error: { code: 'internal_error', message: expect.any(String) } });
  await warned;
  expect(handler).not.toHaveBeenCalled();
});
