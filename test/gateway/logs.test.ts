import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Gateway, NGINX, startDaemonGateway, startGateway } from '../env/gateway.ts';
import { openHttp2 } from './ask-http2.ts';
import { askRaw, requestBytes } from './ask-raw.ts';
import { headerOf } from './envelope.ts';
import { startScriptedService } from './scripted-service.ts';

const NOBODY = '127.0.0.1:9';
const CANARY = 'CANARY';
const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;
/** A request with secrets in every place where a client can put one. */
const SECRETS = [
  ['Authorization', `Bearer ${CANARY}-token`],
  ['Cookie', `session=${CANARY}`],
  ['Referer', `https://example.test/?token=${CANARY}`],
  ['User-Agent', CANARY],
  ['X-Forwarded-For', CANARY],
  ['X-Request-Id', CANARY],
  ['X-Ori-Invoke-User', CANARY],
  ['traceparent', `00-${CANARY}`],
] as const;

/** Everything below the folder except the site's own files. */
function everythingWritten(folder: string): string {
  return ['logs', 'run']
    .flatMap((name) => readdirSync(join(folder, name), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

/** Valid requests, and one for each kind of failure. */
async function sendSecrets(gateway: Gateway): Promise<void> {
  const { port } = gateway;
  const path = `/v1/interns/${CANARY}/daemon/sign?access_token=${CANARY}`;
  const long = CANARY.repeat(4000);
  const lines = [
    `POST ${path} HTTP/1.1`,
    `GET /v1/byok?key=${CANARY} HTTP/1.1`,
    `GET /${CANARY} HTTP/1.1`,
    `TRACE ${path} HTTP/1.1`,
    `POST /v1/interns?${long} HTTP/1.1`,
    `${CANARY} ${path} HTTP/1.1`,
    `GET ${path}%zz HTTP/1.1`,
    `GET ${path} HTTP/9.9`,
    CANARY,
  ];
  for (const line of lines) {
    await askRaw(port, requestBytes(line, SECRETS, CANARY));
    await askRaw(port, requestBytes(line, [...SECRETS, ['Bad Name', CANARY]], CANARY));
    await askRaw(port, requestBytes(line, [...SECRETS, ['X-Long', long]], CANARY));
  }
  await askRaw(port, requestBytes(`POST ${path} HTTP/1.1`, SECRETS, CANARY.repeat(100_000)));
  await askRaw(port, requestBytes(`POST ${path} HTTP/1.1`, SECRETS, CANARY.repeat(200_000)));
  await using http = openHttp2(gateway);
  await http.ask({ ':path': path, authorization: CANARY });
}

describe.skipIf(NGINX === undefined)('what the gateway writes', () => {
  it.each(['answered', 'not reached', 'hung up on'])(
    'contains no secret of a request that was %s',
    async (fate) => {
      await using service = await startScriptedService((req, res) => {
        if (fate === 'hung up on') req.socket.destroy();
        else req.resume().once('end', () => res.end(`{"proof":"${CANARY}"}`));
      });
      const upstreams = [fate === 'not reached' ? NOBODY : service.address];
      await using gateway = await startGateway({ signers: upstreams, management: upstreams });
      await using ofDaemon = await startDaemonGateway({ daemons: upstreams });
      for (const one of [gateway, ofDaemon]) {
        await sendSecrets(one);
        const last = await askRaw(one.port, requestBytes('TRACE /v1 HTTP/1.1', []));
        const [id = ''] = headerOf(last.head, 'x-request-id');
        await expect.poll(() => one.accessLog()).toContain(id);
        const written = everythingWritten(one.folder);
        expect(written).toContain('"status":');
        expect(written).not.toContain(CANARY);
      }
    },
  );

  it('is one JSON object per request, with the request id of the answer', async () => {
    await using service = await startScriptedService((_req, res) => void res.end('{}'));
    await using gateway = await startGateway({ signers: [service.address], management: [NOBODY] });
    const path = '/v1/interns/int_x/daemon/sign';
    const headers = [['User-Agent', '"\\\n'.trim()] as const, ['traceparent', TRACEPARENT] as const];
    await askRaw(gateway.port, requestBytes(`POST ${path} HTTP/1.1`, headers, '{}'));
    await askRaw(gateway.port, 'HELLO\r\n\r\n');
    await askRaw(gateway.port, requestBytes('PATCH /v1/byok/x HTTP/1.1', [], '{}'));
    await using http = openHttp2(gateway);
    // nginx closes the connection without an answer.
    await expect(http.ask({ ':path': path, 'x-long': 'x'.repeat(40_000) })).rejects.toThrow(
      'without a response',
    );
    // A line is written once the answer is sent.
    const lines = async () => (await gateway.accessLog()).split('\n').filter((line) => line !== '');
    await expect.poll(async () => (await lines()).length).toBe(4);
    const entries = (await lines()).map((line) => JSON.parse(line));
    const [first, second, third, fourth] = [200, 400, 502, 0].map((status) =>
      entries.find((entry) => entry.status === status),
    );
    expect(first).toMatchObject({
      requestId: service.requests[0]?.headers['x-request-id'],
      traceId: TRACE_ID,
      client: '127.0.0.1',
      protocol: 'HTTP/1.1',
      method: 'POST',
      route: 'sign',
      status: 200,
      upstream: service.address,
      upstreamStatus: '200',
    });
    expect(service.requests[0]?.headers['traceparent']).toBe(TRACEPARENT);
    expect(second).toMatchObject({ traceId: '', status: 400, method: 'other', route: '' });
    expect(third).toMatchObject({ status: 502, method: 'PATCH', route: 'byok' });
    expect(fourth).toMatchObject({ protocol: 'HTTP/2.0', status: 0 });
  });

  it('takes the trace id only from a valid traceparent, and forwards every traceparent unchanged', async () => {
    const given = [
      [`cc-${TRACE_ID}-00f067aa0ba902b7-01-later`, TRACE_ID],
      [`${TRACEPARENT}-later`, ''],
      [`ff${TRACEPARENT.slice(2)}`, ''],
      [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, ''],
      [`00-${TRACE_ID}-${'0'.repeat(16)}-01`, ''],
      [TRACEPARENT.toUpperCase(), ''],
    ] as const;
    await using service = await startScriptedService((_req, res) => void res.end('{}'));
    await using gateway = await startGateway({ signers: [NOBODY], management: [service.address] });
    for (const [value] of given) {
      await askRaw(gateway.port, requestBytes('GET /v1/interns HTTP/1.1', [['traceparent', value]]));
    }
    const logged = async () => [...(await gateway.accessLog()).matchAll(/"traceId":"([^"]*)"/g)];
    await expect.poll(logged).toHaveLength(given.length);
    const traceIds = new Map(
      (await accessLines(gateway)).map(({ requestId, traceId }) => [requestId, traceId]),
    );
    const passed = service.requests.map(({ headers }) => [
      headers['traceparent'],
      traceIds.get(String(headers['x-request-id'])),
    ]);
    expect(passed).toEqual(given);
  });
});

async function accessLines(gateway: Gateway): Promise<{ requestId: string; traceId: string }[]> {
  const lines = (await gateway.accessLog()).split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line));
}
