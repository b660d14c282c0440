import { chown, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { makeCertificate } from '../env/certificate.ts';
import { createHttpClient } from '../env/http-client.ts';
import { freePort } from '../env/ports.ts';
import { startPostgres } from '../env/postgres-server.ts';
import { startRedis } from '../env/redis.ts';
import { openRoom, type Room, unprivilegedAccount } from '../env/room.ts';
import { hostAsProcess } from '../env/signer-host.ts';
import { SIGN_BODY, startWorld } from '../env/world.ts';

const certificate = makeCertificate();

/** A PostgreSQL of which a TLS client needs a certificate with the name of its login. */
async function startPostgresOverTls(room: Room, account = unprivilegedAccount()) {
  const file = (name: string) => join(room.directory, name);
  const hba = [
    'hostnossl all all all scram-sha-256',
    'hostssl all all all scram-sha-256 clientcert=verify-full',
  ];
  const files = {
    key: certificate.key,
    crt: certificate.cert,
    ca: certificate.cert,
    hba: `${hba.join('\n')}\n`,
  };
  for (const [name, text] of Object.entries(files)) {
    await writeFile(file(name), text, { mode: 0o600 });
    if (account) await chown(file(name), account.uid, account.gid);
  }
  const words = { ssl_cert_file: 'crt', ssl_key_file: 'key', ssl_ca_file: 'ca', hba_file: 'hba' };
  const settings = Object.entries(words).map(([name, value]) => `${name}=${file(value)}`);
  return startPostgres({ settings: ['ssl=on', ...settings] });
}

test('the hardened signer trusts the authorities of files, and presents a certificate to a Redis and a PostgreSQL that require one, and a renewed one without a restart', async () => {
  await using room = await openRoom('ori-hardened-mtls');
  await using postgresRoom = await openRoom('ori-postgres-tls', unprivilegedAccount());
  const file = (name: string) => join(room.directory, name);
  await writeFile(file('tls.crt'), certificate.cert);
  await writeFile(file('tls.key'), certificate.key, { mode: 0o600 });
  const tlsPort = await freePort();
  const words = {
    'tls-port': String(tlsPort),
    'tls-auth-clients': 'yes',
    'tls-cert-file': file('tls.crt'),
    'tls-key-file': file('tls.key'),
    'tls-ca-cert-file': file('tls.crt'),
  };
  const args = Object.entries(words).flatMap(([name, value]) => [`--${name}`, value]);
  await using redis = await startRedis({ arguments: args });
  await using postgres = await startPostgresOverTls(postgresRoom);
  await using world = await startWorld({ redis, postgres });
  const redisUrl = new URL(redis.url.replace(/^redis:/, 'rediss:'));
  redisUrl.host = `localhost:${tlsPort}`;
  const databaseUrl = new URL(world.environment['SIGNER_DATABASE_URL'] ?? '');
  databaseUrl.hostname = 'localhost';
  databaseUrl.search = 'sslmode=verify-full';
  const login = databaseUrl.username;
  using admin = Object.assign(new Redis(redis.url), { [Symbol.dispose]: () => admin.disconnect() });

  let renewals = 0;
  /** A new certificate of the signer, and the only one that the servers trust. Ends the connections with the former. */
  async function renew(): Promise<void> {
    const { cert, key } = makeCertificate({ name: login, daysLeft: 20 });
    renewals += 1;
    const trusted = file(`trusted-${renewals}.crt`);
    await Promise.all(
      [file('client.crt'), trusted, join(postgresRoom.directory, 'ca')].map((path) => writeFile(path, cert)),
    );
    await writeFile(file('client.key'), key, { mode: 0o600 });
    await admin.config('SET', 'tls-ca-cert-file', trusted);
    await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await sql`select pg_reload_conf()`.execute(world.store.kysely);
    await sql`select pg_terminate_backend(pid) from pg_stat_ssl join pg_stat_activity using (pid) where ssl`.execute(
      world.store.kysely,
    );
  }
  await renew();

  const withCertificate = `${databaseUrl.href}&sslcert=${file('client.crt')}&sslkey=${file('client.key')}`;
  const environment = {
    ...world.environment,
    SIGNER_PORT: '0',
    SIGNER_OPS_PORT: '0',
    SIGNER_REDIS_URL: redisUrl.href,
    SIGNER_TLS_CERT_FILE: file('tls.crt'),
    SIGNER_TLS_KEY_FILE: file('tls.key'),
    SIGNER_REQUIRE_HARDENED: 'true',
  };
  const ofAll = { NODE_EXTRA_CA_CERTS: file('tls.crt') };
  const presented = {
    SIGNER_REDIS_TLS_CERT_FILE: file('client.crt'),
    SIGNER_REDIS_TLS_KEY_FILE: file('client.key'),
    SIGNER_DATABASE_URL: withCertificate,
  };
  const startWith = (name: string, differs: Record<string, string>) =>
    hostAsProcess({ ...environment, SIGNER_AUDIT_FILE: file(`${name}.jsonl`), ...differs }, room);
  const readiness = async (opsUrl: string) => (await fetch(`${opsUrl}/readyz`)).text();
  await using anonymous = await startWith('anonymous', { ...ofAll, SIGNER_DATABASE_URL: databaseUrl.href });
  await expect
    .poll(() => readiness(anonymous.opsUrl))
    .toMatch(/"redis":"failing.*"postgresql":"failing|"postgresql":"failing.*"redis":"failing/);
  await using trusting = await startWith('trusting', { ...ofAll, ...presented });
  await using signer = await startWith('signer', {
    ...presented,
    SIGNER_REDIS_TLS_CA_FILE: file('tls.crt'),
    SIGNER_DATABASE_URL: `${withCertificate}&sslrootcert=${file('tls.crt')}`,
  });
  using client = createHttpClient(`https://localhost:${new URL(signer.url).port}`, {
    certificate: certificate.cert,
  });
  const bearer = world.issuer.opaqueToken();
  const sign = async () => {
    const question = { method: 'POST', path: world.signPath, bearer, json: JSON.parse(SIGN_BODY) };
    return (await client.ask(question)).status;
  };
  const ready = ({ opsUrl } = signer) => expect.poll(() => readiness(opsUrl)).toContain('"ready"');
  await ready(trusting);
  await ready();
  expect(await sign()).toBe(200);
  const metrics = await (await fetch(`${signer.opsUrl}/metrics`)).text();
  const ends = [...metrics.matchAll(/^ori_certificate_end_timestamp_seconds\{of="(\w+)"\} (\d+)$/gm)];
  const days = ends.map(([, of, at]) => [of, Math.round((Number(at) - Date.now() / 1000) / 86_400)]);
  expect(Object.fromEntries(days)).toEqual({ listener: 30, postgresql: 30, postgresql_client: 20 });
  await renew();
  await ready();
  expect(await sign()).toBe(200);
});
