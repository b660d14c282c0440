import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, NGINX, startDaemonGateway, startGateway } from '../env/gateway.ts';
import { SIGN_BODY, startWorld, type World } from '../env/world.ts';
import { openHttp2 } from './ask-http2.ts';
import { askRaw, type RawReply } from './ask-raw.ts';
import { requireEnvelope } from './envelope.ts';
import { startJudgingDaemon } from './judging-daemon.ts';
import { type ScriptedService, startScriptedService } from './scripted-service.ts';

const MAX = 1_048_576;

/** Ways to send a body: header lines and bytes. */
const CODINGS = {
  announced: (body: string) => [`Content-Length: ${body.length}`, body],
  'in one chunk': (body: string) => [
    'Transfer-Encoding: chunked',
    `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  ],
  'in many chunks': (body: string) => [
    'Transfer-Encoding: chunked',
    `${(body.match(/[\s\S]{1,1000}/g) ?? []).map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`,
  ],
} satisfies Record<string, (body: string) => string[]>;

/** Sends a request on a new connection. */
function send(port: number, line: string, headers: string[], sent: string[]): Promise<RawReply> {
  const [coding = '', bytes = ''] = sent;
  const head = [
    line,
    'Host: localhost',
    'Connection: close',
    'Content-Type: application/json',
    ...headers,
    coding,
  ];
  return askRaw(port, `${head.join('\r\n')}\r\n\r\n${bytes}`);
}

describe.skipIf(NGINX === undefined)('a body at the gateway', () => {
  let world: World;
  let gateway: Gateway;
  let authorization: string;
  /** Unlike our services, accepts any body and reports its length. */
  let counting: ScriptedService;
  beforeAll(async () => {
    world = await startWorld({ environment: { TRUST_GATEWAY: 'true' } });
    counting = await startScriptedService(async (req, res) => {
      let length = 0;
      for await (const chunk of req) length += chunk.length;
      res.end(String(length));
    });
    gateway = await startGateway({
      signers: [new URL(world.baseUrl).host],
      management: [counting.address],
    });
    authorization = `Bearer ${await world.token()}`;
  });
  afterAll(async () => {
    await gateway?.[Symbol.asyncDispose]();
    await world?.[Symbol.asyncDispose]();
    await counting?.[Symbol.asyncDispose]();
  });

  it.each(Object.entries(CODINGS))('passes with 1,048,576 bytes, %s', async (_, code) => {
    const line = `POST ${world.signPath} HTTP/1.1`;
    const signed = await send(
      gateway.port,
      line,
      [`Authorization: ${authorization}`],
      code(SIGN_BODY.padEnd(MAX)),
    );
    expect(signed.status).toBe(200);
    const counted = await send(gateway.port, 'PATCH /v1/byok/x HTTP/1.1', [], code('x'.repeat(MAX)));
    expect(counted).toMatchObject({ status: 200, body: expect.stringContaining(String(MAX)) });
  });

  it.each(Object.entries(CODINGS))('gets 413 with one byte more, %s', async (_, code) => {
    const line = `POST ${world.signPath} HTTP/1.1`;
    const body = code(SIGN_BODY.padEnd(MAX + 1));
    const signed = await send(gateway.port, line, [`Authorization: ${authorization}`], body);
    requireEnvelope(signed, { status: 413, reason: 'payload_too_large' });
    const counted = await send(gateway.port, 'PATCH /v1/byok/x HTTP/1.1', [], code('x'.repeat(MAX + 1)));
    requireEnvelope(counted, { status: 413 });
  });

  it.each([
    { bytes: MAX, status: 200 },
    { bytes: MAX + 1, status: 413 },
  ])('gives the same result over HTTP/2: $bytes bytes, $status', async ({ bytes, status }) => {
    const body = SIGN_BODY.padEnd(bytes);
    await using http = openHttp2(gateway);
    for (const announced of [{ 'content-length': bytes }, {}]) {
      const head = {
        ':method': 'POST',
        ':path': world.signPath,
        'content-type': 'application/json',
        authorization,
      };
      const reply = await http.ask({ ...head, ...announced }, body);
      expect(reply.status).toBe(status);
      if (status === 413)
        expect(JSON.parse(reply.body)).toMatchObject({
          error: { metadata: { reason: 'payload_too_large' } },
        });
    }
  });

  it('is not read from an unknown caller, and not buffered by the gateway', async () => {
    // The body is never completed: a gateway that waited for it would not answer.
    const line = `POST ${world.signPath} HTTP/1.1`;
    const reply = await send(gateway.port, line, [], [`Content-Length: ${MAX}`, 'the beginning']);
    requireEnvelope(reply, { status: 401 });
  });
});

describe.skipIf(NGINX === undefined)('a body at the gateway of a daemon', () => {
  it.each(Object.entries(CODINGS))(
    'passes with 1,048,576 bytes but not with one more, %s',
    async (_, code) => {
      await using daemon = await startJudgingDaemon();
      await using gateway = await startDaemonGateway({ daemons: [daemon.address] });
      for (const bytes of [MAX, MAX + 1]) {
        const body = 'x'.repeat(bytes);
        const proof = daemon.signer.sign({ path: '/api/invoke', body });
        const headers = Object.entries(proof).map(([name, value]) => `${name}: ${value}`);
        const reply = await send(gateway.port, 'POST /api/invoke HTTP/1.1', headers, code(body));
        expect(reply.status).toBe(bytes === MAX ? 200 : 413);
      }
    },
  );

  it('comes back in the pieces in which the daemon sends it', async () => {
    const { promise: seen, resolve: release } = Promise.withResolvers<void>();
    await using daemon = await startScriptedService(async (_req, res) => {
      // nginx passes chunks on even where it buffers.
      res.writeHead(200, { 'content-length': 9 }).write('first');
      await seen;
      res.end('last');
    });
    await using gateway = await startDaemonGateway({ daemons: [daemon.address] });
    const { body } = await fetch(gateway.url);
    const pieces: string[] = [];
    for await (const piece of body ?? []) {
      pieces.push(new TextDecoder().decode(piece));
      release();
    }
    expect(pieces).toEqual(['first', 'last']);
  });
});
