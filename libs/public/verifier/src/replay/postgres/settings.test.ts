import type { PostgresServer } from '@ori/test-env/postgres-server';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  configure,
  daemonOn,
  openPool,
  query,
  spendBy,
  startLedgerServer,
} from '../../../../../../test/wings/postgres/world.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startLedgerServer();
});
afterAll(() => server[Symbol.asyncDispose]());

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
    await configure(server.url, name, value);
    const late = verifierOn(server.url);
    try {
      await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
      await expect(replay.touch()).rejects.toMatchObject({ code: 'replay_store_unsafe' });
      await expect(late.replay.touch()).rejects.toMatchObject({ code: 'replay_store_unsafe' });
      await expect(late.verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
    } finally {
      await configure(server.url, name);
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
  expect(await spendBy(client, internId, { nonce: Buffer.alloc(16, 1) })).toBe('spent');
  await configure(server.url, 'synchronous_commit', 'off');
  const shown = await client.query('SHOW synchronous_commit');
  await configure(server.url, 'synchronous_commit');
  expect(shown.rows).toEqual([{ synchronous_commit: 'on' }]);
});

test('refuses an unlogged table, which a crash would empty', async () => {
  const { verifier, request, replay } = await daemonOn(server);
  await query(server.url, 'ALTER TABLE ori_replay.spent SET UNLOGGED');
  await expect(replay.touch()).rejects.toMatchObject({
    code: 'replay_store_unsafe',
    message: expect.stringContaining('a table is unlogged'),
  });
  await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
  await query(server.url, 'ALTER TABLE ori_replay.spent SET LOGGED');
  await expect(replay.touch()).resolves.toBeUndefined();
});

test.each([
  ['', 1],
  ['one', 3],
  ['FIRST 1 (one, two)', 4],
  ['ANY 1 (one, two, three)', 3],
])('refuses synchronous_standby_names = %o if %i standbys could be promoted', async (names, replicas) => {
  const { verifierOn, request } = await daemonOn(server);
  if (names !== '') await configure(server.url, 'synchronous_standby_names', `'${names}'`);
  const { verifier, replay } = verifierOn(server.url, { replicas });
  await expect(replay.touch()).rejects.toMatchObject({
    code: 'replay_store_unsafe',
    message: expect.stringMatching(/synchronous_standby_names/),
  });
  await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
  if (names !== '') await configure(server.url, 'synchronous_standby_names');
});
