import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, NGINX, startGateway } from '../env/gateway.ts';
import { askRaw, requestBytes } from './ask-raw.ts';
import { startDeafListener } from './deaf-listener.ts';
import { headerOf, requireEnvelope } from './envelope.ts';
import { startScriptedService } from './scripted-service.ts';

const NOBODY = '127.0.0.1:9';
const SIGN = '/v1/interns/int_x/daemon/sign';
/** One route of each family, and whether it is an intern operation. */
const ROUTES = [
  { route: SIGN, method: 'POST', isIntern: true },
  { route: '/v1/interns/int_x/daemon/jwks.json', method: 'GET', isIntern: true },
  { route: '/v1/interns', method: 'GET', isIntern: true },
  { route: '/v1/interns/int_x/icon?v=1', method: 'GET', isIntern: true },
  { route: '/v1/byok', method: 'GET', isIntern: false },
  { route: '/v1/guardrails', method: 'POST', isIntern: false },
  { route: '/v1/anything', method: 'GET', isIntern: false },
  { route: '/.well-known/oauth-protected-resource/v1', method: 'GET', isIntern: false },
];
const metadata = (isIntern: boolean, reason: string, retryable = false) =>
  isIntern ? { reason, retryable } : {};

describe.skipIf(NGINX === undefined)('an answer of the gateway’s own', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({
      signers: [NOBODY],
      management: [NOBODY],
      regionalHosts: ['eu.api.example'],
    });
  });
  afterAll(() => gateway?.[Symbol.asyncDispose]());
  const ask = (bytes: string) => askRaw(gateway.port, bytes);

  it('passes on an access token of 16,000 characters, with its DPoP proof', async () => {
    const authorization: [string, string] = ['Authorization', `DPoP ${'x'.repeat(16_000)}`];
    for (const headers of [[authorization], [['DPoP', 'x'.repeat(4096)], authorization]] as [
      string,
      string,
    ][][]) {
      const padded: [string, string][] = [
        ['X-Filler', 'x'.repeat(1000)],
        ...headers,
        ['DPoP', 'x'.repeat(2000)],
      ];
      expect((await ask(requestBytes(`POST ${SIGN} HTTP/1.1`, padded))).head).toContain(' 502 ');
    }
  });

  describe.each(ROUTES)('to $method $route', ({ route, method, isIntern }) => {
    const line = `${method} ${route} HTTP/1.1`;

    it('is 502 when no service can be reached', async () => {
      const reply = await ask(requestBytes(line, []));
      requireEnvelope(reply, { status: 502, ...metadata(isIntern, 'internal_error', true) });
      await expect
        .poll(() => gateway.accessLog())
        .toContain(`"requestId":"${headerOf(reply.head, 'x-request-id')[0]}"`);
    });

    it('is 400 for a header that is not HTTP', async () => {
      const reply = await ask(requestBytes(line, [['Bad Name', 'x']]));
      requireEnvelope(reply, { status: 400, ...metadata(isIntern, 'invalid_body') });
    });

    it('is 413 for an announced body size over the limit', async () => {
      const reply = await ask(`${line}\r\nHost: localhost\r\nContent-Length: 1048577\r\n\r\n`);
      requireEnvelope(reply, { status: 413, ...metadata(isIntern, 'payload_too_large') });
    });

    it('is 431 for oversized headers', async () => {
      requireEnvelope(await ask(requestBytes(line, [['X-Filler', 'x'.repeat(20_000)]])), { status: 431 });
      const many = Array.from({ length: 20 }, (_, index): [string, string] => [
        `X-${index}`,
        'x'.repeat(4000),
      ]);
      requireEnvelope(await ask(requestBytes(line, many)), { status: 431 });
    });

    it('is 405 with Allow for a method that is never forwarded', async () => {
      const reply = await ask(requestBytes(`TRACE ${route} HTTP/1.1`, []));
      requireEnvelope(reply, { status: 405 });
      expect(headerOf(reply.head, 'allow').join()).toContain(method);
    });

    it('is 501 for an unknown transfer coding', async () => {
      const bytes = `${line}\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: gzip\r\n\r\n`;
      requireEnvelope(await ask(bytes), { status: 501 });
    });
  });

  it.each([
    '/',
    '/v1x',
    '/V1/interns',
    '/v2/interns',
    '//v1/interns',
    '/%761/interns',
    '/metrics',
    '/livez',
    '/readyz',
    '/nginx_status',
    '/.well-known/oauth-protected-resource',
    '/-/gateway/413',
    '/-/gateway/%34%31%33',
  ])('is 404 where there is nothing: %s', async (path) => {
    requireEnvelope(await ask(requestBytes(`GET ${path} HTTP/1.1`, [])), { status: 404 });
  });

  it('is 414 for an overlong target', async () => {
    const reply = await ask(requestBytes(`GET /v1/interns?${'x'.repeat(20_000)} HTTP/1.1`, []));
    requireEnvelope(reply, { status: 414 });
  });

  it.each(['HELLO', 'GET', 'get /v1/interns HTTP/1.1', 'GET /v1/interns HTTP/x', 'GET http:// HTTP/1.1'])(
    'is 400 for an invalid request: %s',
    async (line) => {
      requireEnvelope(await ask(`${line}\r\nHost: localhost\r\n\r\n`), { status: 400 });
    },
  );

  it('is 400 without a Host, and 505 for an unknown version', async () => {
    requireEnvelope(await ask('GET /v1/byok HTTP/1.1\r\n\r\n'), { status: 400 });
    requireEnvelope(await ask('GET /v1/byok HTTP/3.0\r\nHost: localhost\r\n\r\n'), { status: 505 });
  });

  it('is 400 for plain HTTP where TLS is spoken', async () => {
    requireEnvelope(await askRaw(gateway.securePort, requestBytes('GET /v1/byok HTTP/1.1', [])), {
      status: 400,
    });
  });

  it.each(ROUTES)('is 403 on a regional host name only for intern operations: $route', async (to) => {
    const { route, method, isIntern } = to;
    for (const host of ['eu.api.example', 'EU.api.example:8443', 'eu.api.example.']) {
      const bytes = `${method} ${route} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
      const reply = await ask(bytes);
      if (!isIntern) requireEnvelope(reply, { status: 502 });
      else
        requireEnvelope(reply, {
          status: 403,
          ...metadata(route.includes('/daemon/'), 'regional_host_refused'),
        });
    }
  });
});

describe.skipIf(NGINX === undefined)('an address that sends too much', () => {
  it.each(ROUTES.filter(({ route }) => /sign$|interns$|byok$/.test(route)))(
    'gets 429 with Retry-After: $route',
    async ({ route, method, isIntern }) => {
      await using gateway = await startGateway({
        signers: [NOBODY],
        management: [NOBODY],
        requestsPerSecond: 1,
      });
      const line = `${method} ${route} HTTP/1.1`;
      const some = Array.from(
        { length: 210 },
        () => `${line}\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`,
      );
      await askRaw(gateway.port, some.join('') + requestBytes(line, []));
      const reply = await askRaw(gateway.port, requestBytes(line, []));
      requireEnvelope(reply, { status: 429, ...metadata(isIntern, 'rate_limited', true) });
      expect(headerOf(reply.head, 'retry-after')).toEqual([expect.stringMatching(/^[1-9]\d*$/)]);
      const passed = async () => (await gateway.accessLog()).match(/"status":502/g)?.length;
      await expect.poll(passed).toBeGreaterThanOrEqual(200);
    },
  );
});

it.skipIf(NGINX === undefined)(
  'an address that holds 200 requests open gets no more, and others are served: as many as an office behind one address has',
  async () => {
    await using service = await startScriptedService(
      (req, res) => void req.resume().once('end', () => res.end('{}')),
    );
    await using gateway = await startGateway({
      signers: [service.address],
      management: [service.address],
      behindBalancer: true,
    });
    const line = 'POST /v1/guardrails HTTP/1.1';
    const unfinished = `${line}\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 9\r\n\r\n1`;
    const held: Socket[] = [];
    const hold = () => {
      const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
      socket.write(unfinished);
      held.push(socket);
    };
    for (let open = 0; open < 200; open += 1) hold();
    // A request that overtakes the last of them takes its place, so each round holds one more.
    const askAfterOneMore = () => {
      hold();
      return ask('192.0.2.1');
    };
    const get = 'GET /v1/byok HTTP/1.1';
    const ask = (address: string) => askRaw(gateway.port, requestBytes(get, [['X-Forwarded-For', address]]));
    try {
      await expect.poll(async () => (await askAfterOneMore()).status).toBe(429);
      expect((await ask('192.0.2.2')).status).toBe(200);
    } finally {
      for (const socket of held) socket.destroy();
    }
    await expect.poll(async () => (await ask('192.0.2.1')).status).toBe(200);
    // Forty people behind one address, each with five requests at once.
    const office = await Promise.all(Array.from({ length: 200 }, () => ask('192.0.2.3')));
    expect(office.filter(({ status }) => status !== 200)).toEqual([]);
  },
);

it.skipIf(NGINX === undefined)(
  'all addresses of one /64 of IPv6 count as one, another /64 and an IPv4 address do not',
  async () => {
    await using gateway = await startGateway({
      signers: [NOBODY],
      management: [NOBODY],
      requestsPerSecond: 1,
      behindBalancer: true,
    });
    const line = 'GET /v1/byok HTTP/1.1';
    const ask = (address: string) => requestBytes(line, [['X-Forwarded-For', address]]);
    const kept = (address: string) => `${line}\r\nHost: localhost\r\nX-Forwarded-For: ${address}\r\n\r\n`;
    const many = Array.from({ length: 210 }, (_, index) => kept(`2001:db8:1:2::${(index + 1).toString(16)}`));
    await askRaw(gateway.port, many.join('') + ask('2001:db8:1:2:ffff::1'));
    const statusFor = async (address: string) => (await askRaw(gateway.port, ask(address))).status;
    expect(await statusFor('2001:db8:1:2:3:4:5:6')).toBe(429);
    expect(await statusFor('2001:db8:1:3::1')).not.toBe(429);
    expect(await statusFor('192.0.2.1')).not.toBe(429);
    expect(await statusFor('::ffff:192.0.2.2')).not.toBe(429);
  },
);

describe.skipIf(NGINX === undefined)('a service that does not accept connections', () => {
  it('causes a 504', async () => {
    await using deaf = await startDeafListener();
    await using gateway = await startGateway({ signers: [deaf.address], management: [deaf.address] });
    const replies = ROUTES.map(async ({ route, method, isIntern }) => {
      const reply = await askRaw(gateway.port, requestBytes(`${method} ${route} HTTP/1.1`, []));
      requireEnvelope(reply, { status: 504, ...metadata(isIntern, 'timeout', true) });
    });
    await Promise.all(replies);
  });
});
