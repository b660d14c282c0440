import { createMetrics } from '@ori/runtime/metrics';
import { capturedLog } from '@ori/test-env/captured-log';
import { rawClient } from '@ori/test-env/raw-client';
import { expect, test } from 'vitest';
import { readBody } from '../ground/body.ts';
import { exchangeOf } from '../ground/exchange.ts';
import { startApiServer } from './server.ts';

const HEAD = 'POST / HTTP/1.1\r\nHost: x\r\n';
const FRAMINGS = {
  length: { head: `${HEAD}Content-Length: 8\r\n\r\n`, body: '"123456"' },
  chunks: { head: `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, body: '4\r\n"123\r\n4\r\n456"\r\n0\r\n\r\n' },
} as const;

const QUICKLY = { interval: 2 };

test.each([
  ['length', 'fin'],
  ['length', 'reset'],
  ['chunks', 'fin'],
  ['chunks', 'reset'],
  ['chunks', 'a bad chunk'],
] as const)('a body (%s) that ends early, at any byte, with %s ends its handler', async (framing, ending) => {
  const { head, body } = FRAMINGS[framing];
  const { log, lines } = capturedLog();
  const metrics = createMetrics({ service: 'test' });
  const outcomes: string[] = [];
  let begun = 0;
  await using server = await serve();
  for (let cut = 0; cut < body.length; cut++) {
    // Elsewhere the bytes would be data.
    if (ending === 'a bad chunk' && cut !== 0 && cut !== 9) continue;
    using client = await rawClient(server.port);
    client.send(head + body.slice(0, cut));
    await expect.poll(() => begun, QUICKLY).toBe(outcomes.length + 1);
    if (ending === 'fin') client.socket.end();
    else if (ending === 'reset') client.socket.resetAndDestroy();
    else client.send('zz\r\n');
    await expect.poll(() => outcomes.length, QUICKLY).toBe(begun);
  }
  expect(new Set(outcomes)).toEqual(new Set(['body_aborted']));
  await expect.poll(() => lines.length).toBe(begun);
  expect(await metrics.registry.metrics()).toMatch(/^http_server_requests_in_flight 0$/m);

  async function serve() {
    const api = await startApiServer({
      host: '127.0.0.1',
      port: 0,
      deadlineMs: 60_000,
      log,
      metrics,
      app(req, res) {
        begun += 1;
        readBody(req, { bytesMax: 100, deadline: exchangeOf(req).deadline }).then(
          () => {
            outcomes.push('read');
            res.end();
          },
          (error) => outcomes.push(error.code),
        );
      },
    });
    return {
      port: api.port,
      async [Symbol.asyncDispose]() {
        await api.stop({ graceMs: 0 });
        metrics.close();
      },
    };
  }
});

test('a body that has broken off is not waited for by a handler that reads it later', async () => {
  const outcome = Promise.withResolvers<unknown>();
  const server = await startApiServer({
    host: '127.0.0.1',
    port: 0,
    deadlineMs: 60_000,
    async app(req, res) {
      const { deadline } = exchangeOf(req);
      await new Promise((resolve) => res.once('close', resolve));
      readBody(req, { bytesMax: 100, deadline }).catch(outcome.resolve);
    },
  });
  using client = await rawClient(server.port);
  client.send(`${FRAMINGS.length.head}12`);
  client.socket.end();
  expect(await outcome.promise).toMatchObject({ code: 'body_aborted' });
  await server.stop({ graceMs: 0 });
});
