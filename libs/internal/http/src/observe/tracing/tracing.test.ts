import { setImmediate as turn } from 'node:timers/promises';
import { createMetrics } from '@ori/runtime/metrics';
import { Secret } from '@ori/runtime/secret';
import { capturedLog } from '@ori/test-env/captured-log';
import { type OtlpReceiver, startOtlpReceiver } from '@ori/test-env/otlp-receiver';
import { expect, test } from 'vitest';
import { exchangeOf } from '../../ground/exchange.ts';
import { createExpressApp } from '../../server/routes.ts';
import { type ApiServer, startApiServer } from '../../server/server.ts';
import { timeDependencies } from '../dependency-metrics.ts';
import { openTracing } from '../tracing.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT_ID = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE_ID}-${PARENT_ID}-00`;
const CANARY = 'canary-secret';

interface World extends AsyncDisposable {
  readonly api: ApiServer;
  readonly lines: Record<string, unknown>[];
  /** Stops the service, which exports what is left. */
  stop(): Promise<void>;
}

/** A service with one route, which asks one dependency that fails on request. */
async function startService(
  otlpEndpoint: string,
  database = `postgres://login:${CANARY}@db.internal:5433/ori`,
): Promise<World> {
  const { log, lines } = capturedLog();
  const config = { otlpEndpoint, databaseUrl: new Secret(database) };
  const tracing = await openTracing({ service: 'test', config, log });
  const metrics = createMetrics({ service: 'signer', routes: ['/v1/{id}'] });
  const store = timeDependencies(metrics.registry, tracing)('postgresql', {
    async find(id: string) {
      await turn();
      if (id === 'missing') throw Object.assign(new Error(CANARY), { code: '42501' });
      return id;
    },
    parse: (id: string) => id,
  });
  const app = createExpressApp({
    routes: [
      {
        template: '/v1/{id}',
        method: 'POST',
        async handler(req, res) {
          const { id = '' } = req.params;
          exchangeOf(req).facts['reason'] = 'because';
          for (let calls = 1; id === 'many' && calls < 20; calls++) await store.find(id);
          const answer = await store.find(store.parse(id)).catch(() => undefined);
          if (answer === 'gone') res.destroy();
          else res.writeHead(answer === undefined ? 500 : 200).end(answer);
        },
      },
    ],
    notFound: { status: 404, message: 'Not found.' },
    present: () => undefined,
  });
  const api = await startApiServer({
    app: tracing?.serve(app) ?? app,
    host: '127.0.0.1',
    port: 0,
    deadlineMs: 10_000,
    log,
  });
  const stop = async () => {
    await api.stop({ graceMs: 0 });
    await tracing?.close();
    metrics.close();
  };
  return { api, lines, stop, [Symbol.asyncDispose]: stop };
}

const ask = ({ api }: World, path: string, headers: Record<string, string> = {}) =>
  fetch(`${api.url}${path}`, { method: 'POST', body: CANARY, headers });

/** The spans of one trace: the request's, and those below it. */
function traceOf({ spans }: OtlpReceiver, traceId = TRACE_ID) {
  const ofTrace = spans.filter((span) => span.traceId === traceId);
  const request = ofTrace.find(({ kind }) => kind === 2);
  return { request, below: ofTrace.filter(({ parentSpanId }) => parentSpanId === request?.spanId) };
}

test('a request is a span below the caller’s, and each call of a dependency a span below the request’s', async () => {
  await using receiver = await startOtlpReceiver();
  const world = await startService(receiver.url);
  const answer = await ask(world, '/v1/x', { traceparent: TRACEPARENT });
  await world.stop();
  const { request, below } = traceOf(receiver);
  expect(request).toMatchObject({ service: 'ori-test', parentSpanId: PARENT_ID, name: 'POST /v1/{id}' });
  expect(request?.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/v1/{id}',
    'http.response.status_code': 200,
    'ori.request_id': answer.headers.get('x-request-id'),
    'error.type': 'because',
  });
  expect(below).toMatchObject([
    {
      kind: 3,
      name: 'postgresql find',
      attributes: {
        'ori.dependency': 'postgresql',
        'ori.operation': 'find',
        'db.system.name': 'postgresql',
        'server.address': 'db.internal',
        'server.port': 5433,
      },
    },
  ]);
  expect(receiver.spans).toHaveLength(2);
});

test('a span does not take the address of a Sentinel for that of the server', async () => {
  await using receiver = await startOtlpReceiver();
  const world = await startService(receiver.url, 'redis+sentinel://h1:26379/primary');
  await ask(world, '/v1/x', { traceparent: TRACEPARENT });
  await world.stop();
  expect(Object.keys(traceOf(receiver).below[0]?.attributes ?? {})).toEqual([
    'ori.dependency',
    'ori.operation',
    'db.system.name',
  ]);
});

test('a failed call and a failed request are marked with codes', async () => {
  await using receiver = await startOtlpReceiver();
  const world = await startService(receiver.url);
  await ask(world, '/v1/missing', { traceparent: TRACEPARENT });
  await expect(ask(world, '/v1/gone')).rejects.toThrow();
  await ask(world, '/elsewhere');
  await world.stop();
  const { request, below } = traceOf(receiver);
  expect(request).toMatchObject({ status: 2, attributes: { 'http.response.status_code': 500 } });
  expect(below).toMatchObject([{ status: 2, attributes: { 'error.type': '42501' } }]);
  const others = receiver.spans.filter(({ traceId, kind }) => traceId !== TRACE_ID && kind === 2);
  expect(others.map(({ name, status }) => [name, status])).toEqual([
    ['POST /v1/{id}', 2],
    ['POST', 0],
  ]);
});

test.each([`00-${'0'.repeat(32)}-${PARENT_ID}-01`, `00-${TRACE_ID}-${'0'.repeat(16)}-01`, CANARY])(
  'an invalid traceparent (%s) is replaced, and the log line names the new trace',
  async (traceparent) => {
    await using receiver = await startOtlpReceiver();
    const world = await startService(receiver.url);
    await ask(world, '/v1/x', { traceparent });
    await world.stop();
    const line = world.lines.find(({ msg }) => msg === 'request');
    const { request, below } = traceOf(receiver, String(line?.['traceId']));
    expect(request).toMatchObject({ parentSpanId: undefined });
    expect(request?.traceId).not.toBe(TRACE_ID);
    expect(below).toHaveLength(1);
  },
);

test('no span holds anything of a request but its id and its place in the trace', async () => {
  await using receiver = await startOtlpReceiver();
  const world = await startService(receiver.url);
  const names = [
    'authorization',
    'cookie',
    'tracestate',
    'baggage',
    'user-agent',
    'x-request-id',
    'x-ori-user',
  ];
  const headers = Object.fromEntries(names.map((name) => [name, `a=${CANARY}`]));
  for (const path of [`/v1/${CANARY}`, '/v1/missing', `/${CANARY}?q=${CANARY}`]) {
    await ask(world, path, { ...headers, traceparent: TRACEPARENT });
    await ask(world, path, headers);
  }
  await world.stop();
  expect(receiver.spans.filter(({ kind }) => kind === 2)).toHaveLength(6);
  expect(receiver.bodies.join('')).not.toContain(CANARY);
});

test('a collector that does not answer costs no request, and memory for a limited number of spans', async () => {
  await using receiver = await startOtlpReceiver();
  receiver.behaviour = 'silent';
  const world = await startService(receiver.url);
  // 21 spans each.
  const answers = await Promise.all(Array.from({ length: 240 }, () => ask(world, '/v1/many')));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  await world.stop();
  const kept = new Set(receiver.bodies.join('').match(/"spanId":"\w+"/g));
  expect(kept.size).toBeGreaterThan(2000);
  expect(kept.size).toBeLessThan(4000);
});

test('a collector that refuses costs no request, and the log says how many spans are lost', async () => {
  await using receiver = await startOtlpReceiver();
  receiver.behaviour = 400;
  await using world = await startService(receiver.url);
  expect((await ask(world, '/v1/x')).status).toBe(200);
  const lost = () => world.lines.find(({ level }) => level === 'warn');
  await expect.poll(lost).toMatchObject({ spans: 2 });
});

test('without an endpoint nothing is loaded', async () => {
  const { log } = capturedLog();
  expect(await openTracing({ service: 'test', config: {}, log })).toBeUndefined();
});
