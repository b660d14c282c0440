import { readFileSync } from 'node:fs';
import type { PostgresServer } from '@ori/test-env/postgres-server';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { daemonOn, query, startLedgerServer } from '../../../../../../test/wings/postgres/world.ts';
import { POSTGRES_REPLAY_SQL } from './schema.ts';

const README = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8');

let server: PostgresServer;
let daemonUrl: string;

/** The address of another login on the same database. */
function addressOf(user: string, password: string): string {
  const url = new URL(server.url);
  url.username = user;
  url.password = password;
  return url.href;
}

// As in the README: an ordinary role owns the schema, and the daemon's role gets the four grants.
beforeAll(async () => {
  server = await startLedgerServer();
  await query(
    server.url,
    `DROP SCHEMA ori_replay CASCADE; CREATE ROLE owner LOGIN PASSWORD 'secret'; GRANT CREATE ON DATABASE postgres TO owner`,
  );
  await query(addressOf('owner', 'secret'), POSTGRES_REPLAY_SQL);
  const lines = README.match(/^(?:CREATE ROLE|ALTER ROLE|GRANT) .*ori_daemon.*;$/gm) ?? [];
  expect(lines).toHaveLength(7);
  for (const line of lines) await query(server.url, line);
  daemonUrl = addressOf('ori_daemon', 'SECRET');
});
afterAll(() => server[Symbol.asyncDispose]());

test('the grants of the README, made by an owner without superuser rights, are enough for a daemon', async () => {
  const { internId, verifierOn, request } = await daemonOn(server, { acceptV1: true });
  const { verifier, replay } = verifierOn(daemonUrl, { timeoutMs: 5000, acquireMs: 10_000 });
  await replay.touch();
  const signed = request();
  await expect(verifier.verify(signed)).resolves.toBeDefined();
  await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
  const policy = { internId, maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false, answers: {} };
  replay.attach(policy);
  await replay.touch();
  const call = { policy, user: 'ada', nonce: 'A'.repeat(22), timestamp: 0, nowMs: Date.now() };
  const [at, signingInput] = [Math.floor(Date.now() / 1000), new Uint8Array()];
  await replay.spend({ ...call, timestamp: at, signingInput, v1Id: () => 'ab'.repeat(32), caller: 'ada' });
  await replay.answers.keep(call, 'too_large');
  expect(await replay.answers.ask(call)).toBe('too_large');
  await query(daemonUrl, 'SELECT * FROM ori_replay.waiting()');
  await query(daemonUrl, 'SELECT * FROM ori_replay.forget(0, 2, 0)');
});

test('the server asks after a silent client of that role, and ends its connection after a minute', async () => {
  const settings = await query(
    daemonUrl,
    `SELECT name, setting FROM pg_settings WHERE name LIKE 'tcp_keepalives_%'`,
  );
  const { tcp_keepalives_idle, tcp_keepalives_interval, tcp_keepalives_count } = Object.fromEntries(
    settings.map(({ name, setting }) => [name, Number(setting)]),
  );
  expect(tcp_keepalives_idle + tcp_keepalives_interval * tcp_keepalives_count).toBe(60);
});

test.each([
  'SELECT * FROM ori_replay.spent',
  'SELECT * FROM ori_replay.ledger',
  'SELECT * FROM ori_replay.answer',
  `INSERT INTO ori_replay.spent VALUES ('int', 'x', 0)`,
  'DELETE FROM ori_replay.spent',
  'TRUNCATE ori_replay.spent',
  'UPDATE ori_replay.ledger SET event = 0',
  'BEGIN; LOCK TABLE ori_replay.ledger IN EXCLUSIVE MODE',
  'DROP TABLE ori_replay.spent',
  'CREATE TABLE ori_replay.more (id integer)',
  `CREATE OR REPLACE FUNCTION ori_replay.clock() RETURNS double precision LANGUAGE sql AS 'SELECT 0::float8'`,
])('and the daemon is refused: %s', async (text) => {
  await expect(query(daemonUrl, text)).rejects.toMatchObject({ code: expect.stringMatching(/^42501$/) });
});

test('another role has no access', async () => {
  await query(server.url, `CREATE ROLE stranger LOGIN PASSWORD 'secret'`);
  const { verifierOn, request } = await daemonOn(server);
  const { verifier, replay } = verifierOn(addressOf('stranger', 'secret'));
  const refused = { code: 'replay_store_unsafe', message: expect.stringMatching(/not granted/) };
  await expect(replay.touch()).rejects.toMatchObject(refused);
  await expect(verifier.verify(request())).rejects.toMatchObject(refused);
});

test('unqualified names do not resolve to the caller’s objects', async () => {
  const { verifierOn, request } = await daemonOn(server);
  await query(
    server.url,
    'CREATE SCHEMA trap AUTHORIZATION ori_daemon; GRANT USAGE ON SCHEMA trap TO PUBLIC',
  );
  await query(
    daemonUrl,
    `CREATE FUNCTION trap.abs(double precision) RETURNS double precision LANGUAGE sql AS 'SELECT 0::float8'`,
  );
  await query(daemonUrl, 'ALTER ROLE ori_daemon SET search_path = trap, pg_catalog');
  const { verifier } = verifierOn(daemonUrl, { now: Date.now });
  const late = daemonOn(server, { now: () => Date.now() + 5000 });
  await expect(verifier.verify(request())).resolves.toBeDefined();
  const { verifierOn: lateOn, request: lateRequest } = await late;
  await expect(
    lateOn(daemonUrl).verifier.verify(lateRequest({ timestamp: Math.floor(Date.now() / 1000) + 5 })),
  ).rejects.toMatchObject({ code: 'replay_store_unsafe' });
});

test('a database without the schema, or with that of an older version, is refused with advice', async () => {
  const { verifierOn, request } = await daemonOn(server);
  await query(server.url, 'CREATE DATABASE bare');
  const url = new URL('/bare', server.url).href;
  const bare = { url, ...verifierOn(url) };
  const missing = {
    code: 'replay_store_unsafe',
    message: expect.stringMatching(/schema ori_replay is missing/),
  };
  await expect(bare.replay.touch()).rejects.toMatchObject(missing);
  await expect(bare.verifier.verify(request())).rejects.toMatchObject(missing);
  await query(bare.url, POSTGRES_REPLAY_SQL.replace('version := 1', 'version := 0'));
  await expect(bare.replay.touch()).rejects.toMatchObject({
    code: 'replay_store_unsafe',
    message: expect.stringContaining('the schema ori_replay is outdated: install it again'),
  });
  await query(bare.url, POSTGRES_REPLAY_SQL);
  await expect(bare.replay.touch()).resolves.toBeUndefined();
});

test('four concurrent reinstallations lose no spent proof', async () => {
  const { verifier, request } = await daemonOn(server);
  const signed = request();
  await verifier.verify(signed);
  await Promise.all([1, 2, 3, 4].map(() => query(addressOf('owner', 'secret'), POSTGRES_REPLAY_SQL)));
  await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
  await expect(verifier.verify(request())).resolves.toBeDefined();
});
