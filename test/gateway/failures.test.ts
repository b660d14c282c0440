import { describe, expect, it } from 'vitest';
import { NGINX, startDaemonGateway, startGateway } from '../env/gateway.ts';
import { askRaw, requestBytes } from './ask-raw.ts';
import { requireEnvelope } from './envelope.ts';
import { startScriptedService } from './scripted-service.ts';

const NOBODY = '127.0.0.1:9';
const SIGN = 'POST /v1/interns/int_x/daemon/sign HTTP/1.1';
const KEYS = 'GET /v1/interns/int_x/daemon/jwks.json HTTP/1.1';

describe.skipIf(NGINX === undefined)('a service that fails', () => {
  it('is skipped if it accepts no connection, for every method', async () => {
    await using other = await startScriptedService((_req, res) => void res.end('{}'));
    await using gateway = await startGateway({ signers: [NOBODY, other.address], management: [NOBODY] });
    for (let count = 0; count < 20; count += 1) {
      expect((await askRaw(gateway.port, requestBytes(SIGN, [], '{}'))).status).toBe(200);
    }
    expect(other.requests.length).toBe(20);
  });

  it('is still used while it is the only one, however often connections were refused', async () => {
    const stopped = await startScriptedService(() => {});
    const { address } = stopped;
    await stopped[Symbol.asyncDispose]();
    await using gateway = await startGateway({ signers: [address, NOBODY], management: [NOBODY] });
    for (let count = 0; count < 5; count += 1) {
      expect((await askRaw(gateway.port, requestBytes(SIGN, [], '{}'))).status).toBe(502);
    }
    await using again = await startScriptedService(
      (_req, res) => void res.end('{}'),
      Number(address.split(':')[1]),
    );
    expect((await askRaw(gateway.port, requestBytes(SIGN, [], '{}'))).status).toBe(200);
    expect(again.requests.length).toBe(1);
  });

  it.each([
    ['without an answer', () => {}],
    ['in the middle of an answer', (write: (text: string) => void) => write('HTTP/1.1 200 OK\r\nContent-Le')],
  ])('a POST is not sent again, to it or another, if it hangs up %s', async (_, last) => {
    const hangUp = () =>
      startScriptedService((req) => {
        req.resume().once('end', () => {
          last((text) => req.socket.write(text));
          req.socket.end();
        });
      });
    await using first = await hangUp();
    await using second = await hangUp();
    await using gateway = await startGateway({
      signers: [first.address, second.address],
      management: [NOBODY],
    });
    await using ofDaemon = await startDaemonGateway({ daemons: [first.address, second.address] });
    const ofSigners = { reason: 'internal_error', retryable: true };
    for (const [{ port }, metadata] of [[gateway, ofSigners] as const, [ofDaemon, {}] as const]) {
      for (const body of ['{}', 'x'.repeat(100_000)]) {
        const before = first.requests.length + second.requests.length;
        const reply = await askRaw(port, requestBytes(SIGN, [], body));
        requireEnvelope(reply, { status: 502, ...metadata });
        expect(first.requests.length + second.requests.length - before).toBe(1);
      }
    }
  });

  it('is replaced for a GET if it closes the connection', async () => {
    await using first = await startScriptedService((req) => void req.socket.destroy());
    await using second = await startScriptedService((_req, res) => void res.end('{"keys":[]}'));
    await using gateway = await startGateway({
      signers: [first.address, second.address],
      management: [NOBODY],
    });
    for (let count = 0; count < 4; count += 1) {
      expect((await askRaw(gateway.port, requestBytes(KEYS, []))).status).toBe(200);
    }
    expect(first.requests.length).toBeGreaterThan(0);
  });

  it.each([500, 503, 429, 404])(
    'its own response is forwarded unchanged, and it stays in use: %i',
    async (status) => {
      const body = JSON.stringify({ error: { code: status, message: 'Mine.' } });
      await using service = await startScriptedService((_req, res) => {
        res
          .writeHead(status, {
            'content-type': 'application/json',
            'retry-after': '7',
            'x-request-id': 'mine',
          })
          .end(body);
      });
      await using gateway = await startGateway({ signers: [service.address], management: [NOBODY] });
      for (let count = 1; count <= 3; count += 1) {
        const reply = await askRaw(gateway.port, requestBytes(SIGN, [], '{}'));
        expect(reply).toMatchObject({ status, body: expect.stringContaining(body) });
        expect(reply.head.match(/retry-after: 7/gi)).toHaveLength(1);
        expect(reply.head.match(/x-request-id: [0-9a-f]{32}/gi)).toHaveLength(1);
        expect(reply.head).not.toContain('mine');
        expect(service.requests.length).toBe(count);
      }
    },
  );
});

describe.skipIf(NGINX === undefined)('a request behind the gateway', () => {
  it('the client address comes from the gateway only', async () => {
    await using service = await startScriptedService((_req, res) => void res.end('{}'));
    await using gateway = await startGateway({ signers: [service.address], management: [NOBODY] });
    const told = [
      ['X-Forwarded-For', '192.0.2.1'],
      ['X-Forwarded-For', '192.0.2.2'],
      ['X-Forwarded-Host', 'eu.api.example'],
      ['X-Forwarded-Proto', 'gopher'],
      ['X-Real-IP', '192.0.2.3'],
      ['Forwarded', 'for=192.0.2.4'],
      ['X-Request-Id', 'chosen-by-the-client'],
      ['X_Request_Id', 'chosen-by-the-client'],
      ['X-Ori-Title', 'passes'],
    ] as const;
    const reply = await askRaw(gateway.port, requestBytes(SIGN, told, '{}'));
    const [request] = service.requests;
    expect(request?.headers).toMatchObject({
      host: 'localhost',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-host': 'localhost',
      'x-forwarded-proto': 'http',
      'x-ori-title': 'passes',
    });
    expect(request?.rawHeaders.join('\n')).not.toMatch(/192\.0\.2|eu\.api|gopher|chosen/);
    expect(reply.head).toContain(`X-Request-Id: ${request?.headers['x-request-id']}`);
  });
});
