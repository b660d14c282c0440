import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Secret } from '@ori/runtime/secret';
import { capturedLog } from '@ori/test-env/captured-log';
import { makeCertificate } from '@ori/test-env/certificate';
import { freePort } from '@ori/test-env/ports';
import { type RedisServer, startRedis } from '@ori/test-env/redis';
import { openRoom, type Room } from '@ori/test-env/room';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { connectRedis, pingRedis, type RedisClient } from './connection.ts';
import { startScriptedRedis } from './scripted-redis.fixture.ts';

const certificate = makeCertificate();

let room: Room;
let server: RedisServer;
let tlsPort: number;
const clients: RedisClient[] = [];
const file = (name: string) => join(room.directory, name);

/** The certificate and key that our connections show. */
async function write({ cert, key }: { cert: string; key: string }): Promise<void> {
  await writeFile(file('client.crt'), cert);
  await writeFile(file('client.key'), key, { mode: 0o600 });
}

/** A Redis for `localhost` that needs a certificate of its clients. */
beforeEach(async () => {
  room = await openRoom('ori-redis-tls');
  await writeFile(file('tls.crt'), certificate.cert);
  await writeFile(file('tls.key'), certificate.key, { mode: 0o600 });
  await write(certificate);
  tlsPort = await freePort();
  const settings = {
    'tls-port': String(tlsPort),
    'tls-cert-file': file('tls.crt'),
    'tls-key-file': file('tls.key'),
    'tls-ca-cert-file': file('tls.crt'),
  };
  server = await startRedis({
    arguments: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
  });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await server[Symbol.asyncDispose]();
  await room[Symbol.asyncDispose]();
});

function open(url: string, options: Partial<Parameters<typeof connectRedis>[1]> = {}): RedisClient {
  const client = connectRedis(new Secret(url), { purpose: 'test', ...options });
  clients.push(client);
  return client;
}

const files = () => ({ cert: file('client.crt'), key: file('client.key'), ca: file('tls.crt') });
const until = (client: RedisClient, event: string) => new Promise((resolve) => client.once(event, resolve));

it('a server is trusted by an authority that the system or a file names', async () => {
  const url = `rediss://localhost:${tlsPort}`;
  const strict = open(url);
  await until(strict, 'error');
  await expect(pingRedis(strict)).rejects.toMatchObject({ cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' } });
  const trusting = open(url, { tls: files() });
  await until(trusting, 'ready');
  await pingRedis(trusting);
});

it('a renewed certificate is shown at the next connection, and the former one while it cannot be read', async () => {
  const { log, lines } = capturedLog();
  const url = `rediss://localhost:${tlsPort}`;
  const both = [open(url, { tls: files(), log }), open(url, { tls: files() })];
  await Promise.all(both.map((client) => until(client, 'ready')));
  const admin = new Redis(server.url);
  clients.push(admin);
  const reconnect = async () => {
    const back = both.map((client) => until(client, 'ready'));
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await Promise.all(back);
    await Promise.all(both.map(pingRedis));
  };
  const renewed = makeCertificate({ name: 'renewed' });
  await writeFile(file('client.crt'), renewed.cert);
  await reconnect();
  expect(lines.filter(({ level }) => level === 'error')).toHaveLength(1);
  await write(renewed);
  await writeFile(file('trusted.crt'), renewed.cert);
  await admin.config('SET', 'tls-ca-cert-file', file('trusted.crt'));
  await reconnect();
});

/** A server that needs the same certificates as the Redis. */
const mutual = { ...certificate, ca: certificate.cert, requestCert: true };

it('sentinels are asked over TLS too, with the same certificate', async () => {
  using sentinel = await startScriptedRedis(
    ([, word]) => (word === 'get-master-addr-by-name' ? ['localhost', String(tlsPort)] : undefined),
    mutual,
  );
  const client = open(`rediss+sentinel://localhost:${sentinel.port}/main`, { tls: files() });
  await until(client, 'ready');
  await pingRedis(client);
});

it('the names of the nodes of a Cluster reach the certificate check', async () => {
  using node = await startScriptedRedis(() => 'OK', mutual);
  open(`rediss+cluster://localhost:${node.port}`, { tls: files() });
  await expect.poll(() => node.asked).toContain('client setname ori-test');
});
