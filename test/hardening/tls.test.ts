import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createSecureContext, TLSSocket } from 'node:tls';
import { expect, test } from 'vitest';
import { makeCertificate } from '../e2e/cli-certificate.ts';
import { openRoom } from '../env/room.ts';
import { SIGN_BODY, startWorld } from '../env/world.ts';
import { start } from './signer-process.ts';

const certificate = makeCertificate();

/**
 * TLS in front of a server of loopback, under the name `localhost`. @param prelude plain-text exchange before TLS:
 * PostgreSQL's client asks for it
 */
async function behindTls(address: string, prelude?: string) {
  const { hostname, port } = new URL(address);
  const sockets = new Set<Socket>();
  const secureContext = createSecureContext(certificate);
  const server = createServer(async (plain) => {
    const far = connect(Number(port), hostname);
    for (const socket of [plain, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => [plain, far].map((one) => one.destroy()));
    }
    if (prelude !== undefined) {
      await once(plain, 'data');
      plain.write(prelude);
    }
    const secure = new TLSSocket(plain, { isServer: true, secureContext });
    secure.on('error', () => plain.destroy());
    secure.pipe(far).pipe(secure);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

test('the hardened signer signs over TLS to Redis and PostgreSQL, with authorities from files', async () => {
  await using room = await openRoom('ori-hardened-tls');
  await using world = await startWorld();
  const authority = join(room.directory, 'authority.pem');
  await writeFile(authority, certificate.cert);
  const plain = {
    redis: new URL(world.environment['SIGNER_REDIS_URL'] ?? ''),
    database: new URL(world.environment['SIGNER_DATABASE_URL'] ?? ''),
  };
  await using redis = await behindTls(plain.redis.href);
  await using postgres = await behindTls(plain.database.href, 'S');
  const database = new URL(plain.database);
  database.host = `localhost:${postgres.port}`;
  database.search = new URLSearchParams({ sslmode: 'verify-full', sslrootcert: authority }).toString();
  const redisUrl = new URL(plain.redis.href.replace(/^redis:/, 'rediss:'));
  redisUrl.host = `localhost:${redis.port}`;

  await using signer = await start(room, {
    ...world.environment,
    NODE_EXTRA_CA_CERTS: authority,
    SIGNER_AUDIT_FILE: join(room.directory, 'audit.jsonl'),
    SIGNER_DATABASE_URL: database.href,
    SIGNER_REDIS_URL: redisUrl.href,
    SIGNER_REQUIRE_HARDENED: 'true',
  });
  await expect
    .poll(async () => (await fetch(`${signer.opsUrl}/readyz`)).text(), { timeout: 20_000 })
    .toContain('"ready"');
  const answer = await fetch(`${signer.url}${world.signPath}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${world.issuer.opaqueToken()}`, 'content-type': 'application/json' },
    body: SIGN_BODY,
  });
  expect(answer.status).toBe(200);
});
