import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMetrics } from '@ori/runtime/metrics';
import { capturedLog } from '@ori/test-env/captured-log';
import { type RawAnswer, type RawClient, rawClient } from '@ori/test-env/raw-client';
import { afterEach, describe, expect, it } from 'vitest';
import { readBody } from '../ground/body.ts';
import { presentDeadline } from '../ground/deadline.ts';
import { sendEnvelope } from '../ground/envelope.ts';
import { exchangeOf } from '../ground/exchange.ts';
import { type ApiServer, type ApiServerOptions, startApiServer } from './server.ts';

const open: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});

async function serve(app: RequestListener, options: Partial<ApiServerOptions> = {}): Promise<ApiServer> {
  const server = await startApiServer({ app, host: '127.0.0.1', port: 0, deadlineMs: 10_000, ...options });
  open.push({ stop: () => server.stop({ graceMs: 0 }) });
  return server;
}

async function clientOf(server: ApiServer): Promise<RawClient> {
  const client = await rawClient(server.port);
  open.push({ stop: async () => client[Symbol.dispose]() });
  return client;
}

async function exchange(server: ApiServer, bytes: string): Promise<RawAnswer> {
  const client = await clientOf(server);
  client.send(bytes);
  return client.answer();
}

function envelope(answer: RawAnswer): unknown {
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(answer.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{1,128}$/);
  return JSON.parse(answer.body).error;
}

const hello: RequestListener = (_req, res) => void res.end('hello');
const GET = 'GET /a HTTP/1.1\r\nHost: x\r\n\r\n';

describe('the deadline', () => {
  const timeout = {
    code: 408,
    message: presentDeadline(300).message,
    metadata: { reason: 'timeout', retryable: true },
  };

  it('answers 408 when the application does not, and aborts the signal of the request', async () => {
    const aborted = Promise.withResolvers<unknown>();
    const app: RequestListener = (req) => {
      const { signal } = exchangeOf(req).deadline;
      signal.addEventListener('abort', () => aborted.resolve(signal.reason));
    };
    expect(envelope(await exchange(await serve(app, { deadlineMs: 300 }), GET))).toEqual(timeout);
    expect(await aborted.promise).toMatchObject({ code: 'deadline_exceeded', deadlineMs: 300 });
  });

  it('runs from the first byte of each request, also on a kept connection', async () => {
    const remaining: number[] = [];
    const app: RequestListener = (req, res) => {
      remaining.push(exchangeOf(req).deadline.remainingMs());
      res.end('ok');
    };
    const client = await clientOf(await serve(app));
    for (let request = 0; request < 2; request++) {
      client.send('GET /a HTTP/1.1\r\n');
      await sleep(200);
      client.send('Host: x\r\n\r\n');
      await client.answer();
    }
    expect(remaining).toHaveLength(2);
    for (const ms of remaining) expect(ms).toBeLessThan(9_850);
  });

  it('does not count the idle time of a kept connection', async () => {
    const remaining: number[] = [];
    const app: RequestListener = (req, res) => {
      remaining.push(exchangeOf(req).deadline.remainingMs());
      void readBody(req, { bytesMax: 10 }).then(() => res.end('ok'));
    };
    const client = await clientOf(await serve(app, { deadlineMs: 600 }));
    for (let request = 0; request < 2; request++) {
      client.send('POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n');
      await expect.poll(() => remaining.length).toBe(request + 1);
      client.send('hello');
      expect((await client.answer()).status).toBe(200);
      await sleep(700);
    }
    for (const ms of remaining) expect(ms).toBeGreaterThan(0);
  });
});

it('ignores an Upgrade header', async () => {
  const request = GET.replace('Host: x', 'Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket');
  expect(await exchange(await serve(hello), request)).toMatchObject({ status: 200, body: 'hello' });
});

describe('a body that is not read', () => {
  const refuse: RequestListener = (_req, res) => sendEnvelope(res, { status: 413, message: 'too large' });

  it.each([
    ['announced', `Content-Length: ${2 ** 30}`],
    ['chunked', 'Transfer-Encoding: chunked'],
  ])(
    'costs less than 2 MiB of a 1 GiB upload, and the client gets its answer (%s)',
    async (_name, header) => {
      const server = await serve((req, res) => {
        readBody(req, { bytesMax: 1_048_576 }).catch(() => refuse(req, res));
      });
      let read = 0;
      server.server.on('connection', (socket) =>
        socket.on('close', () => {
          read = socket.bytesRead;
        }),
      );
      const client = await clientOf(server);
      client.send(`POST /a HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n`);
      const mebibyte = Buffer.alloc(2 ** 20, 0x61);
      const chunk = header.startsWith('C')
        ? mebibyte
        : Buffer.concat([Buffer.from('100000\r\n'), mebibyte, Buffer.from('\r\n')]);
      const upload = (async () => {
        for (let sent = 0; sent < 1024 && !client.socket.destroyed; sent++) {
          if (!client.socket.write(chunk))
            await new Promise((resolve) => client.socket.once('drain', resolve).once('close', resolve));
        }
      })();
      const answer = await client.answer();
      expect(answer.status).toBe(413);
      expect(answer.headers.get('connection')).toBe('close');
      await upload;
      await client.closed();
      await expect.poll(() => read).toBeGreaterThan(0);
      expect(read).toBeLessThan(2 * 2 ** 20);
    },
  );

  it('does not reset a client that sends its body after the answer and only then reads', async () => {
    const client = await clientOf(await serve(refuse));
    client.socket.pause();
    client.send('POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n');
    await sleep(100);
    client.send('a'.repeat(50_000));
    await sleep(50);
    client.send('a'.repeat(50_000));
    await sleep(50);
    client.socket.resume();
    expect((await client.answer()).status).toBe(413);
    expect(await client.closed()).toBeUndefined();
  });

  it('closes the connection after any kind of answer', async () => {
    const request = 'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n';
    expect((await exchange(await serve(hello), request)).headers.get('connection')).toBe('close');
  });

  it.each([
    ['short', 5, 'keep-alive'],
    ['long', 20_000, 'close'],
  ])('a gateway keeps its connection after a refusal if the body is %s', async (_, length, connection) => {
    const server = await serve(refuse, { trustGateway: true, deadlineMs: 400 });
    const client = await clientOf(server);
    const ask = async (pauseMs: number) => {
      client.send(`POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`);
      await sleep(pauseMs);
      client.send('a'.repeat(length));
      return client.answer();
    };
    const first = await ask(150);
    expect([first.status, first.headers.get('connection')]).toEqual([413, connection]);
    if (connection === 'close') return;
    // Longer than the deadline: no byte of a body may count as the beginning of the next request.
    await sleep(600);
    expect((await ask(0)).status).toBe(413);
  });

  it('keeps the connection if the body was read', async () => {
    const server = await serve(
      (req, res) => void readBody(req, { bytesMax: 10 }).then((body) => res.end(body)),
    );
    const client = await clientOf(server);
    for (const body of ['first', 'other']) {
      client.send(`POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n${body}`);
      expect(await client.answer()).toMatchObject({ status: 200, body });
    }
  });
});

describe('Expect', () => {
  it.each([
    'Expect: wonders',
    'Expect: 100-continue, wonders',
    'Expect: 100-continue\r\nExpect: 100-continue',
  ])('refuses any other expectation with 417: %j', async (line) => {
    const answer = await exchange(await serve(hello), GET.replace('Host: x', `Host: x\r\n${line}`));
    expect(envelope(answer)).toMatchObject({ code: 417 });
  });
});

describe('what is not a request', () => {
  it.each([
    ['an unknown protocol', 'HELLO\r\n\r\n', 400],
    [
      'both body lengths',
      'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
    ],
    [
      'two different lengths',
      'POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n',
      400,
    ],
    [
      'an unknown transfer coding',
      'POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n',
      400,
    ],
    [
      'an unknown transfer coding beneath the chunks',
      'POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['a bare line feed', 'GET /a HTTP/1.1\nHost: x\n\n', 400],
    ['a folded header', 'GET /a HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n', 400],
    ['a space before the colon', 'GET /a HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n', 400],
    ['no Host', 'GET /a HTTP/1.1\r\n\r\n', 400],
    ['two Hosts', 'GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n', 400],
    ['an absolute-form target', 'GET http://x/a HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n', 400],
    ['CONNECT', 'CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n', 404],
    ['an HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['headers over 24 KiB', `GET /a HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(25_000)}\r\n\r\n`, 431],
  ])('is answered with an envelope and never reaches the application: %s', async (_name, bytes, code) => {
    let reached = 0;
    const server = await serve((_req, res) => {
      reached += 1;
      res.end();
    });
    expect(envelope(await exchange(server, bytes))).toMatchObject({ code });
    expect(reached).toBe(0);
  });

  it('is 400 invalid_body if the chunks of a body are malformed', async () => {
    const server = await serve((req) => void readBody(req, { bytesMax: 100 }).catch(() => {}));
    const bytes = 'POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n';
    const metadata = { reason: 'invalid_body', retryable: false };
    expect(envelope(await exchange(server, bytes))).toMatchObject({ code: 400, metadata });
  });
});

it('counts bytes that are not a valid request', async () => {
  const metrics = createMetrics({ service: 'test' });
  await exchange(await serve(hello, { metrics }), 'HELLO\r\n\r\n');
  expect(await metrics.registry.metrics()).toContain('http_server_connections_refused_total{status="400"} 1');
  metrics.close();
});

describe('the request line', () => {
  it('contains the route and never the path, a header or a body', async () => {
    const { log, lines, text } = capturedLog();
    const app: RequestListener = (req, res) => {
      Object.assign(exchangeOf(req), { route: '/interns/{internId}' });
      Object.assign(exchangeOf(req).facts, { internId: 'int_1' });
      void readBody(req, { bytesMax: 100 }).then(() => res.end());
    };
    const server = await serve(app, { log });
    const headers = { authorization: 'Bearer canary-token', 'x-anything': 'canary-header' };
    await fetch(`${server.url}/interns/canary-path?canary=query`, {
      method: 'POST',
      headers,
      body: 'canary-body',
    });
    await expect.poll(() => lines.length).toBe(1);
    expect(lines[0]).toMatchObject({
      msg: 'request',
      method: 'POST',
      route: '/interns/{internId}',
      status: 200,
      internId: 'int_1',
    });
    expect(text()).not.toContain('canary');
  });

  it('records that the client disconnected', async () => {
    const { log, lines } = capturedLog();
    const reached = Promise.withResolvers<void>();
    const client = await clientOf(await serve(() => reached.resolve(), { log }));
    client.send(GET);
    await reached.promise;
    client.socket.destroy();
    await expect.poll(() => lines.length).toBe(1);
    expect(lines[0]).toMatchObject({ msg: 'request', status: null, aborted: true });
  });
});

describe('stop', () => {
  it('finishes a request in progress, with Connection: close', async () => {
    const reached = Promise.withResolvers<() => void>();
    const server = await serve((_req, res) => reached.resolve(() => res.end('done')));
    const client = await clientOf(server);
    client.send(GET);
    const finish = await reached.promise;
    const stopped = server.stop({ graceMs: 10_000 });
    finish();
    const answer = await client.answer();
    expect(answer).toMatchObject({ status: 200, body: 'done' });
    expect(answer.headers.get('connection')).toBe('close');
    await stopped;
  });

  it('finishes a request with a partly received head', async () => {
    const server = await serve(hello);
    const accepted = once(server.server, 'connection') as Promise<[Socket]>;
    const client = await clientOf(server);
    const [socket] = await accepted;
    client.send(GET.slice(0, -2));
    while (socket.bytesRead === 0) await sleep(1);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const stopped = server.stop({ graceMs: 10_000 });
    // Later than the moment at which idle connections are closed.
    await Promise.race([sleep(50), closed]);
    client.send(GET.slice(-2));
    expect(await client.answer()).toMatchObject({ status: 200, body: 'hello' });
    await stopped;
  });

  it('closes idle connections, used or not, and accepts no new ones', async () => {
    const server = await serve(hello);
    const used = await clientOf(server);
    used.send(GET);
    await used.answer();
    const unused = await clientOf(server);
    used.socket.on('end', () => used.socket.end());
    unused.socket.on('end', () => unused.socket.end());
    await server.stop({ graceMs: 60_000 });
    await used.closed();
    await unused.closed();
    await expect(rawClient(server.port)).rejects.toThrow('ECONNREFUSED');
  });

  it('closes a connection with an answer that began before', async () => {
    const begun = Promise.withResolvers<() => void>();
    const server = await serve((_req, res) => {
      res.setHeader('content-length', 5).write('beg');
      begun.resolve(() => res.end('un'));
    });
    const client = await clientOf(server);
    client.send(GET);
    const finish = await begun.promise;
    const stopped = server.stop({ graceMs: 60_000 });
    // Later than the moment at which idle connections are closed.
    await sleep(50);
    finish();
    expect((await client.answer()).body).toBe('begun');
    await client.closed();
    await stopped;
  });

  it('answers a request on an idle connection within the idle grace period', async () => {
    const server = await serve(hello);
    const client = await clientOf(server);
    const unused = await clientOf(server);
    client.send(GET);
    await client.answer();
    const stopped = server.stop({ graceMs: 60_000, idleGraceMs: 1000 });
    await sleep(100);
    client.send(GET);
    expect((await client.answer()).headers.get('connection')).toBe('close');
    await client.closed();
    await unused.closed();
    await stopped;
  });

  it('answers connections that were waiting to be accepted when the stop began', async () => {
    const server = await serve(hello);
    const clients = Array.from({ length: 50 }, () => connect(server.port, '127.0.0.1'));
    const answers = clients.map(async (socket) => {
      socket.write(GET);
      return Buffer.concat(await socket.toArray()).toString();
    });
    // The kernel has queued them all; the server has accepted none.
    const stopped = server.stop({ graceMs: 60_000, idleGraceMs: 1000 });
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    await stopped;
  });

  it('keeps a connection with an answer that began before, for the idle grace period', async () => {
    const begun = Promise.withResolvers<() => void>();
    let requests = 0;
    const server = await serve((_req, res) => {
      requests += 1;
      if (requests > 1) return void res.end('again');
      res.setHeader('content-length', 5).write('beg');
      begun.resolve(() => res.end('un'));
    });
    const client = await clientOf(server);
    client.send(GET);
    const finish = await begun.promise;
    const stopped = server.stop({ graceMs: 60_000, idleGraceMs: 1000 });
    finish();
    expect((await client.answer()).headers.get('connection')).toBe('keep-alive');
    client.send(GET);
    expect((await client.answer()).headers.get('connection')).toBe('close');
    await stopped;
  });

  it('cuts the remaining connections when the grace period ends', async () => {
    const reached = Promise.withResolvers<void>();
    const server = await serve(() => reached.resolve());
    const client = await clientOf(server);
    client.send(GET);
    await reached.promise;
    await server.stop({ graceMs: 50 });
    await client.closed();
    expect(client.received()).toBe('');
  });
});
