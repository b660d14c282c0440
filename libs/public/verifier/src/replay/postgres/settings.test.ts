import type { PostgresServer } from '@ori/test-env/postgres-server';
import { daemonOn, openPool, query, startLedgerServer } from '@ori/test-env/verifier/postgres-world';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

let server: PostgresServer;
beforeAll(async () => {
  server = await startLedgerServer();
});
afterAll(() => server[Symbol.asyncDispose]());

/** Changes the server's configuration, and waits until a new session sees the change. */
async function configure(name: string, value: string | undefined): Promise<void> {
  const had = await query(server.url, `SHOW ${name}`);
  await query(server.url, `ALTER SYSTEM ${value === undefined ? `RESET ${name}` : `SET ${name} = ${value}`}`);
  await query(server.url, 'SELECT pg_reload_conf()');
  await expect.poll(() => query(server.url, `SHOW ${name}`)).not.toEqual(had);
}

test.each([
  ['fsync', 'off'],
  ['full_page_writes', 'off'],
  ['zero_damaged_pages', 'on'],
  ['synchronous_commit', 'off'],
  ['synchronous_commit', 'local'],
  ['synchronous_commit', 'remote_write'],
  ['default_transaction_isolation', "'repeatable read'"],
  ['default_transaction_isolation', "'serializable'"],
  ['default_transaction_read_only', 'on'],
])(
  'refuses to work under %s = %s, at start and when it is set later, until it is corrected',
  async (name, value) => {
    const { verifier, request, replay, verifierOn } = await daemonOn(server);
    await verifier.verify(request());
    await configure(name, value);
    const late = verifierOn(server.url);
    try {
      await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
      await expect(replay.touch()).rejects.toMatchObject({ code: 'replay_store_unsafe' });
      await expect(late.replay.touch()).rejects.toMatchObject({ code: 'replay_store_unsafe' });
      await expect(late.verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
    } finally {
      // A session that can write, whatever the current default is.
      const admin = new pg.Client({
        connectionString: server.url,
        options: '-c default_transaction_read_only=off',
      });
      await admin.connect();
      await admin.query(`ALTER SYSTEM RESET ${name}`);
      await admin.query('SELECT pg_reload_conf()');
      await admin.end();
    }
    const accepted = () =>
      verifier.verify(request()).then(
        () => true,
        () => false,
      );
    await expect.poll(accepted).toBe(true);
  },
);

test('commits to disk even if synchronous_commit changes between the check and the commit', async () => {
  const { internId } = await daemonOn(server);
  const client = await openPool(server.url).connect();
  onTestFinished(() => client.release(true));
  await client.query('BEGIN');
  const now = Date.now() / 1000;
  const { rows } = await client.query(
    'SELECT * FROM ori_replay.spend($1,$2,$3,$4,$5,$6,$7,$8,$9,$10,$11,$12)',
    [...[internId, Math.floor(now), Buffer.alloc(16, 1), Buffer.alloc(32), now, 0, '', '0/0', 90, 2, 0, 200]],
  );
  expect(rows[0]).toMatchObject({ verdict: 'spent' });
  await configure('synchronous_commit', 'off');
  const shown = await client.query('SHOW synchronous_commit');
  await configure('synchronous_commit', undefined);
  expect(shown.rows).toEqual([{ synchronous_commit: 'on' }]);
});

test('refuses an unlogged table, which a crash would empty', async () => {
  const { verifier, request, replay } = await daemonOn(server);
  await query(server.url, 'ALTER TABLE ori_replay.spent_0 SET UNLOGGED');
  await expect(replay.touch()).rejects.toMatchObject({
    code: 'replay_store_unsafe',
    message: expect.stringContaining('a table is unlogged'),
  });
  await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
  await query(server.url, 'ALTER TABLE ori_replay.spent_0 SET LOGGED');
  await expect(replay.touch()).resolves.toBeUndefined();
});

test.each([
  ['', 1],
  ['one', 3],
  ['FIRST 1 (one, two)', 4],
  ['ANY 1 (one, two, three)', 3],
])('refuses synchronous_standby_names = %o if %i standbys could be promoted', async (names, replicas) => {
  const { verifierOn, request } = await daemonOn(server);
  if (names !== '') await configure('synchronous_standby_names', `'${names}'`);
  const { verifier, replay } = verifierOn(server.url, { replicas });
  await expect(replay.touch()).rejects.toMatchObject({
    code: 'replay_store_unsafe',
    message: expect.stringMatching(/synchronous_standby_names/),
  });
  await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
  if (names !== '') {
    // Does not wait for a standby, because none would ever answer.
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query('SET synchronous_commit = local');
    await client.query('ALTER SYSTEM RESET synchronous_standby_names');
    await client.query('SELECT pg_reload_conf()');
    await client.end();
    await expect
      .poll(() => query(server.url, 'SHOW synchronous_standby_names'))
      .toEqual([{ synchronous_standby_names: '' }]);
  }
});
