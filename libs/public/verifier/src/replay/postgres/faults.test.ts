import { copyFolder, type PostgresOptions, type PostgresServer } from '@ori/test-env/postgres-server';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  configure,
  daemonOn,
  query,
  startLedgerServer,
} from '../../../../../../test/wings/postgres/world.ts';
import type { SignedRequest } from '../../request.ts';
import type { Verifier } from '../../verifier.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startLedgerServer();
});
afterAll(() => server[Symbol.asyncDispose]());

/** A server for one test. */
async function own(options: PostgresOptions = {}): Promise<PostgresServer> {
  const server = await startLedgerServer(options);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

/** Whether the ledger names this server, on its second timeline. */
const KNOWS_ITS_SERVER = `SELECT identity LIKE system_identifier || ':00000002:%' AS known FROM ori_replay.ledger, pg_control_system()`;

const verdictOf = (verifier: Verifier, request: SignedRequest): Promise<string> =>
  verifier.verify(request).then(
    () => 'accepted',
    (error) => error.code,
  );

test('refuses every older proof on a restored file copy with the same timeline, and on a promoted one', async () => {
  const server = await own({ settings: ['hot_standby=on', 'wal_keep_size=64MB'] });
  const { verifier, verifierOn, request, replay } = await daemonOn(server);
  await verifier.verify(request());
  await server.stop();
  const backup = `${server.data}-backup`;
  await copyFolder(server.data, backup);
  await server.start();
  await replay.touch();
  await query(server.url, 'UPDATE ori_replay.ledger SET event = event - 1000');
  const fresh = verifierOn(server.url);
  const signed = request();
  await fresh.verifier.verify(signed);

  await server.stop();
  await copyFolder(backup, server.data);
  await server.start();
  expect(await query(server.url, 'SELECT count(*) FROM ori_replay.spent')).toEqual([{ count: '1' }]);
  const stranger = verifierOn(server.url);
  expect(await verdictOf(stranger.verifier, signed)).toMatch(/unsafe|before_fence/);
  await stranger.replay.touch();
  expect(await verdictOf(stranger.verifier, signed)).toBe('proof_before_fence');
  expect(await verdictOf(fresh.verifier, signed)).toBe('proof_before_fence');

  const second = request();
  const standby = await own({ copyOf: { data: backup, url: server.url }, standbyOf: server });
  const onStandby = verifierOn(standby.url);
  await expect(onStandby.replay.touch()).rejects.toMatchObject({
    code: 'replay_store_unsafe',
    message: expect.stringContaining('the server is a standby'),
  });
  expect(await verdictOf(onStandby.verifier, second)).toBe('replay_store_unsafe');
  await query(standby.url, 'SELECT pg_promote()');
  await onStandby.replay.touch();
  expect(await verdictOf(onStandby.verifier, second)).toBe('proof_before_fence');
  expect(await query(standby.url, KNOWS_ITS_SERVER)).toEqual([{ known: true }]);
}, 60_000);

// SPEC.md N10, N11.
test('does not wait for a frozen server; a spend without an answer counts as spent', async () => {
  const { verifier, verifierOn, request, pool } = await daemonOn(server);
  const impatient = verifierOn(server.url, { timeoutMs: 200 });
  await impatient.replay.touch();
  await impatient.verifier.verify(request());
  const signed = request();
  await server.freeze();
  expect(await verdictOf(impatient.verifier, signed)).toBe('replay_store_unavailable');
  // Not sent, because a frozen server must not hold more connections.
  const before = impatient.pool.totalCount;
  expect(await verdictOf(impatient.verifier, request())).toBe('replay_store_unavailable');
  expect(impatient.pool.totalCount).toBeLessThanOrEqual(Math.max(before, 1));
  await server.thaw();
  await pool.query('SELECT 1');
  await expect.poll(() => verdictOf(verifier, signed)).toBe('nonce_replayed');
  await expect.poll(() => verdictOf(impatient.verifier, request())).toBe('accepted');
});

test('refuses a spend that no standby acknowledged, even if the wait is cancelled; it stays spent, and no more are sent', async () => {
  const { verifierOn, request } = await daemonOn(server);
  await configure(server.url, 'synchronous_standby_names', `'missing'`);
  const { verifier, replay } = verifierOn(server.url, { replicas: 1 });
  const hasty = verifierOn(server.url, { replicas: 1, timeoutMs: 200, touchSeconds: 60 });
  const waiting = () => query(server.url, `SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
  const [first, second] = [request(), request()];

  const asked = verdictOf(verifier, first);
  await expect.poll(waiting).toHaveLength(1);
  await query(server.url, `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`);
  expect(await asked).toBe('replay_store_unsafe');

  await hasty.replay.touch();
  expect(await verdictOf(hasty.verifier, second)).toBe('replay_store_unavailable');
  await Promise.all([1, 2, 3].map(() => verdictOf(hasty.verifier, request())));
  expect(await waiting()).toHaveLength(1);
  await expect
    .poll(() =>
      hasty.replay.touch().then(
        () => '',
        (error) => error.message,
      ),
    )
    .toContain('commits wait for a standby');
  for (let index = 0; index < 50; index += 1) await verdictOf(hasty.verifier, request());
  expect(await waiting()).toHaveLength(1);

  await configure(server.url, 'synchronous_standby_names');
  await expect.poll(waiting).toEqual([]);
  const alone = verifierOn(server.url);
  await alone.replay.touch();
  for (const signed of [first, second])
    expect(await verdictOf(alone.verifier, signed)).toBe('nonce_replayed');
  await expect(replay.touch()).rejects.toMatchObject({ code: 'replay_store_unsafe' });
});
