import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { extendKekRing, generateKekRing, wrapKekRing } from '../change-kek-ring.ts';
import { openKekRing, parseKekRing } from '../kek-ring-text.ts';
import { isKmsUrl } from '../kms-address.ts';
import { createTransit } from './transit.ts';

// A server that follows OpenBao's documented API (transit: encrypt and decrypt), and breaks it on demand.
const folder = mkdtempSync(join(tmpdir(), 'ori-transit-'));
const tokenFile = join(folder, 'token');
const asked: { url: string | undefined; token: unknown }[] = [];
let misbehave: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
let token = 'first';
const kept = new Map<string, string>();
const server = createServer(async (request, response) => {
  asked.push({ url: request.url, token: request.headers['x-vault-token'] });
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  if (misbehave !== undefined) return misbehave(request, response);
  const reply = (status: number, body: object) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };
  if (request.headers['x-vault-token'] !== token) return reply(403, { errors: ['permission denied'] });
  const body = JSON.parse(Buffer.concat(chunks).toString());
  if (request.url === '/v1/transit/encrypt/kek') {
    const ciphertext = `vault:v1:${kept.size}`;
    kept.set(ciphertext, body.plaintext);
    return reply(200, { request_id: 'r', data: { ciphertext, key_version: 1 } });
  }
  const plaintext = kept.get(body.ciphertext);
  if (plaintext === undefined) return reply(400, { errors: ['cipher: message authentication failed'] });
  reply(200, { request_id: 'r', data: { plaintext } });
});
let kmsUrl: string;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  kmsUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/transit/keys/kek`;
  writeFileSync(tokenFile, 'first\n', { mode: 0o600 });
});
afterEach(() => {
  misbehave = undefined;
  asked.length = 0;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true });
});

const transit = (timeoutMs?: number) => createTransit({ kmsUrl, kmsTokenFile: tokenFile, timeoutMs });
const failure = (code: string) => ({ name: 'KmsError', code });

it('asks for one key of a ring at a time, because an HSM answers one call after the other', async () => {
  let [underWay, most] = [0, 0];
  const alone = async <T>(answer: T): Promise<T> => {
    most = Math.max(most, ++underWay);
    await new Promise(setImmediate);
    underWay -= 1;
    return answer;
  };
  const kms = {
    wrap: (kek: Uint8Array) => alone(Buffer.from(kek).toString('base64')),
    unwrap: (wrapped: string) => alone(Buffer.from(wrapped, 'base64')),
  };
  const text = extendKekRing(extendKekRing(generateKekRing('signer'), 'signer'), 'signer');
  const ring = await openKekRing(await wrapKekRing(text, kms), 'signer', kms);
  expect(ring.kids).toEqual(parseKekRing(text).kids);
  expect(most).toBe(1);
});

it('wraps and unwraps the keys of a ring, each call with the token that the file holds then', async () => {
  const text = generateKekRing('signer');
  const wrapped = await wrapKekRing(text, transit());
  token = 'second';
  writeFileSync(tokenFile, 'second\n');
  expect((await openKekRing(wrapped, 'signer', transit())).kids).toEqual(parseKekRing(text).kids);
  expect(asked).toEqual([
    { url: '/v1/transit/encrypt/kek', token: 'first' },
    { url: '/v1/transit/decrypt/kek', token: 'second' },
  ]);
});

it('waits five seconds for each answer', async () => {
  const limit = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(AbortSignal.abort());
  onTestFinished(() => limit.mockRestore());
  await expect(transit().wrap(Buffer.alloc(32))).rejects.toThrow('did not answer within 5000 ms');
  expect(limit).toHaveBeenCalledExactlyOnceWith(5000);
});

it('refuses a key that is not the one that was wrapped', async () => {
  const [text, other] = [generateKekRing('signer'), generateKekRing('signer')];
  const wrapped = await wrapKekRing(text, transit());
  const { k } = JSON.parse(other).keys[0];
  for (const plaintext of [Buffer.from(k, 'base64url'), Buffer.alloc(16, 7), Buffer.alloc(0)]) {
    misbehave = (_request, response) =>
      void response.end(JSON.stringify({ data: { plaintext: plaintext.toString('base64') } }));
    await expect(openKekRing(wrapped, 'signer', transit())).rejects.toMatchObject({
      name: 'SealingError',
      code: 'invalid_kek_ring',
    });
  }
});

it.each<[string, string, (request: IncomingMessage, response: ServerResponse) => void]>([
  [
    'switches protocols',
    'unavailable',
    ({ socket }) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
  ],
  ['is silent', 'unavailable', () => {}],
  [
    'stops in the middle',
    'unavailable',
    (_request, response) => void response.writeHead(200).write('{"data":'),
  ],
  ['cuts the connection', 'unavailable', (request) => void request.socket.destroy()],
  ['is sealed', 'unavailable', (_request, response) => void response.writeHead(503).end()],
  ['redirects', 'refused', (_request, response) => void response.writeHead(307, { Location: '/' }).end()],
  ['denies', 'refused', (_request, response) => void response.writeHead(403).end('{"errors":[]}')],
  ['answers something else', 'unusable', (_request, response) => void response.end('{"data":{}}')],
  ['answers no JSON', 'unusable', (_request, response) => void response.end('<html>')],
  ['answers without end', 'unusable', (_request, response) => void response.end('x'.repeat(70_000))],
])('fails in time when the KMS %s', async (_what, code, how) => {
  misbehave = how;
  await expect(transit(500).unwrap('vault:v1:0')).rejects.toMatchObject(failure(code));
});

it('sends nothing without the token that is configured', async () => {
  const kms = createTransit({ kmsUrl, kmsTokenFile: join(folder, 'missing') });
  await expect(kms.unwrap('vault:v1:0')).rejects.toMatchObject(failure('refused'));
  expect(asked).toEqual([]);
});

it.each([
  ['https://bao.test:8200/v1/transit/keys/ori', true],
  ['https://bao.test/v1/team/transit/keys/ori-signer', true],
  ['http://127.0.0.1:8200/v1/transit/keys/ori', true],
  ['http://[::1]:8200/v1/transit/keys/ori', true],
  ['unix:/run/ori-kms/kms.sock', true],
  ['http://bao.test:8200/v1/transit/keys/ori', false],
  ['https://bao.test/v1/transit', false],
  ['https://bao.test/v1/transit/keys/ori?x=1', false],
  ['https://token@bao.test/v1/transit/keys/ori', false],
  ['unix:/run/ori%20kms/kms.sock', true],
  ['unix:/run/100%/kms.sock', true],
  ['unix:kms.sock', false],
  ['bao.test', false],
  ['ftp://bao.test/v1/transit/keys/ori', false],
])('takes %s for the address of a key: %s', (url, expected) => {
  expect(isKmsUrl(url)).toBe(expected);
  if (!expected) expect(() => createTransit({ kmsUrl: url })).toThrow(TypeError);
});
