import { randomBytes } from 'node:crypto';
import type { PostgresServer } from '@ori/test-env/postgres-server';
import { startRecipe } from '@ori/test-env/verifier/recipe';
import { describeVersion1 } from '@ori/test-env/verifier/version-1';
import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  daemonOn,
  openPool,
  plantOldEvent,
  query,
  type SpentProof,
  spendBy,
  startLedgerServer,
} from '../../../../../../test/wings/postgres/world.ts';
import { createLocalKeySet } from '../../keys/local.ts';
import { createVerifier } from '../../verifier.ts';
import { postgresReplayStore } from './store.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startLedgerServer();
});
afterAll(() => server[Symbol.asyncDispose]());

const sql = (text: string) => query(server.url, text);
const seconds = (): number => Math.floor(Date.now() / 1000);

describeVersion1(async () => {
  const world = await daemonOn(server, { acceptV1: true });
  const backdate = () =>
    sql(`UPDATE ori_replay.v1 SET since = since - 100 WHERE intern_id = '${world.internId}'`);
  return { ...world, backdate };
});

describe('spend', () => {
  test('accepts a nonce once whatever its timestamp', async () => {
    const { replay, internId } = await daemonOn(server);
    const policy = { internId, maxAgeSeconds: 600, clockToleranceSeconds: 2, acceptV1: false };
    const nonce = randomBytes(16).toString('base64url');
    const spend = (timestamp: number) =>
      replay.spend({
        policy,
        timestamp,
        nonce,
        nowMs: Date.now(),
        signingInput: new Uint8Array(),
        v1Id: () => '00'.repeat(32),
      });
    const verdicts = await Promise.allSettled([
      spend(seconds()),
      spend(seconds() - 400),
      spend(seconds() - 1),
    ]);
    expect(verdicts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(spend(seconds() - 401)).rejects.toMatchObject({ code: 'nonce_replayed' });
  });

  test('refuses a proof as old as a forgotten one', async () => {
    const { verifier, request, internId } = await daemonOn(server);
    await sql(`UPDATE ori_replay.ledger SET floor = ${seconds() + 1}`);
    const refused = expect(verifier.verify(request())).rejects;
    await refused.toMatchObject({ code: 'proof_expired' });
    expect(await sql(`SELECT FROM ori_replay.spent WHERE intern_id = '${internId}'`)).toEqual([]);
    await sql('UPDATE ori_replay.ledger SET floor = -1');
  });

  test('refuses a proof that is too old by the clock of the server', async () => {
    const { verifier, request, internId } = await daemonOn(server, { now: () => Date.now() - 1900 });
    const { replay } = await daemonOn(server);
    const policy = { internId, maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false };
    await expect(
      replay.spend({
        policy,
        timestamp: seconds() - 93,
        nonce: 'AAAA',
        nowMs: Date.now(),
        signingInput: new Uint8Array(),
        v1Id: () => '00',
      }),
    ).rejects.toMatchObject({ code: 'proof_expired' });
    await expect(verifier.verify(request())).resolves.toBeDefined();
  });

  test('refuses a proof stamped ahead of the clock of the server, and does not spend it', async () => {
    const { verifier, request } = await daemonOn(server, { now: () => Date.now() + 1900 });
    const signed = request({ timestamp: Math.floor((Date.now() + 3900) / 1000) });
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'proof_not_yet_valid' });
    await expect
      .poll(() =>
        verifier.verify(signed).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  });

  test.each([-5, 5])('refuses to work while the clocks are %i s apart', async (apart) => {
    const { verifier, request } = await daemonOn(server, { now: () => Date.now() + apart * 1000 });
    await expect(verifier.verify(request({ timestamp: seconds() + apart }))).rejects.toMatchObject({
      code: 'replay_store_unsafe',
    });
  });
});

describe('the fence', () => {
  test('is written at start, and refuses every proof issued up to then, with the time to wait', async () => {
    const { verifierOn, request } = await daemonOn(server);
    await sql(`UPDATE ori_replay.ledger SET identity = '', event = 0`);
    const { verifier, replay } = verifierOn(server.url);
    await replay.touch();
    await expect(verifier.verify(request())).rejects.toMatchObject({
      code: 'proof_before_fence',
      retryAfterSeconds: expect.toSatisfy((pause: number) => pause >= 2 && pause <= 4),
    });
  });

  test.each([
    ['another run of the server', `identity || '0'`],
    ['another timeline', `regexp_replace(identity, ':0000', ':0001')`],
    ['no server', `''`],
    ['another server, which a check finds', `'1' || identity`],
  ])('of %s is ignored', async (_name, identity) => {
    const { verifier, request, replay } = await daemonOn(server);
    const signed = request();
    await verifier.verify(signed);
    await sql(`TRUNCATE ori_replay.spent;
      UPDATE ori_replay.ledger SET identity = ${identity}, file = pg_relation_filenode('ori_replay.spent')`);
    if (!identity.startsWith("'1'"))
      await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'replay_store_unsafe' });
    await replay.touch();
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'proof_before_fence' });
  });

  test('is written as soon as a standby has it, or refused in the time of the verifier', async () => {
    const client = await openPool(server.url).connect();
    await client.query(
      `BEGIN; SET LOCAL synchronous_commit = 'remote_apply'; UPDATE ori_replay.ledger SET identity = ''`,
    );
    const touch = `ori_replay.touch('int_1', false, ori_replay.clock(), 0, '', '0/0', 2, 0, 123, NULL)`;
    expect((await client.query(`SELECT verdict FROM ${touch}`)).rows).toEqual([{ verdict: 'touched' }]);
    const { rows } = await client.query(
      `SELECT current_setting('lock_timeout') AS lock, current_setting('synchronous_commit') AS commit`,
    );
    await client.query('ROLLBACK');
    client.release();
    expect(rows).toEqual([{ lock: '123ms', commit: 'on' }]);
  });

  test('is ignored if it is older than one this verifier has seen', async () => {
    const { verifier, request, replay } = await daemonOn(server);
    await sql(`UPDATE ori_replay.ledger SET identity = ''`);
    await replay.touch();
    await plantOldEvent(server.url);
    await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
    await replay.touch();
    await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'proof_before_fence' });
  });

  test('is set again when the log position of the same run has gone back', async () => {
    const { verifier, request, replay, pool } = await daemonOn(server);
    const signed = request();
    await verifier.verify(signed);
    // A pool that reports a later position than the server has now, like a verifier after the server was restored.
    const lend = pool.connect.bind(pool);
    pool.connect = (async () => {
      const client = await lend();
      const ask = client.query.bind(client);
      client.query = (async (text: string, values: unknown[]) => {
        client.query = ask;
        const answer = await ask(text, values);
        for (const row of answer.rows) if (row.lsn !== undefined) row.lsn = 'FFFFFF/0';
        return answer;
      }) as never;
      return client;
    }) as never;
    await verifier.verify(request());
    pool.connect = lend as never;
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'replay_store_unsafe' });
    await replay.touch();
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'proof_before_fence' });
  });

  test.each([
    ['the spent proofs emptied', 'TRUNCATE ori_replay.spent'],
    [
      'the ledger emptied',
      "DELETE FROM ori_replay.ledger; INSERT INTO ori_replay.ledger VALUES (true, '', 0, -1, 0)",
    ],
    [
      'a table that was unlogged for a moment',
      'ALTER TABLE ori_replay.spent SET UNLOGGED; TRUNCATE ori_replay.spent; ALTER TABLE ori_replay.spent SET LOGGED',
    ],
  ])('is set again after %s', async (_name, loss) => {
    const { verifier, request, replay } = await daemonOn(server);
    const signed = request();
    await verifier.verify(signed);
    await sql(loss);
    await expect(verifier.verify(signed)).rejects.toMatchObject({
      code: expect.stringMatching(/unsafe|before_fence/),
    });
    await replay.touch();
    await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'proof_before_fence' });
  });
});

test('version 1 is refused after its ids were no longer recorded, and recording starts again', async () => {
  const { verifier, request, internId, replay } = await daemonOn(server, { acceptV1: true });
  await sql(`DELETE FROM ori_replay.v1 WHERE intern_id = '${internId}'`);
  await expect(verifier.verify(request({ version: 1 }))).rejects.toMatchObject({
    code: 'proof_before_fence',
  });
  await replay.touch();
  expect(await sql(`SELECT FROM ori_replay.v1 WHERE intern_id = '${internId}'`)).toHaveLength(1);
});

describe('spends and the state that they depend on', () => {
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%ori_replay.%' AND pid <> pg_backend_pid()`;

  test('the state does not change before every spend in progress has committed', async () => {
    const { internId, pool } = await daemonOn(server);
    const accepting = daemonOn(server, { acceptV1: true });
    await accepting;
    const client = await pool.connect();
    await client.query('BEGIN');
    expect(await spendBy(client, internId, { nonce: Buffer.alloc(16, 7) })).toBe('spent');
    await sql('DELETE FROM ori_replay.v1');
    const touched = (await accepting).replay.touch();
    await expect.poll(async () => (await sql(waiting)).length).toBe(1);
    expect(await sql('SELECT FROM ori_replay.v1')).toEqual([]);
    await client.query('COMMIT');
    client.release();
    await touched;
    expect(await sql('SELECT FROM ori_replay.v1')).toHaveLength(1);
  });

  test('version 1 is recorded from later than every proof that was spent before', async () => {
    const { replay, internId } = await daemonOn(server, { acceptV1: true });
    const stamped = seconds() + 30;
    await sql(`DELETE FROM ori_replay.v1 WHERE intern_id = '${internId}'`);
    await sql(
      `INSERT INTO ori_replay.spent VALUES ('${internId}', 'of one that tolerates more', ${stamped})`,
    );
    await replay.touch();
    expect(await sql(`SELECT since FROM ori_replay.v1 WHERE intern_id = '${internId}'`)).toEqual([
      { since: stamped },
    ]);
  });

  const nonce = Buffer.alloc(16, 3);
  test.each<[string, SpentProof]>([
    ['the same nonce at another time', { nonce, olderSeconds: 400, v1Id: Buffer.alloc(32, 1) }],
    ['a version 1 proof of the same request', { nonce: null }],
  ])('a spend waits for %s in progress', async (_name, later) => {
    const { internId, pool } = await daemonOn(server, { acceptV1: true });
    await sql('UPDATE ori_replay.v1 SET since = since - 1000');
    const [one, other] = [await pool.connect(), await pool.connect()];
    await one.query('BEGIN');
    expect(await spendBy(one, internId, { nonce })).toBe('spent');
    const asked = spendBy(other, internId, later);
    await expect.poll(async () => (await sql(waiting)).length).toBe(1);
    await one.query('COMMIT');
    expect(await asked).toBe('replayed');
    for (const client of [one, other]) client.release();
  });

  test('a spend that must wait is refused in time, by the client and the server', async () => {
    const { verifierOn, request, pool } = await daemonOn(server);
    const { verifier, replay } = verifierOn(server.url, { timeoutMs: 1000 });
    await replay.touch();
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('LOCK TABLE ori_replay.ledger IN EXCLUSIVE MODE');
    await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unavailable' });
    await expect.poll(async () => (await sql(waiting)).length).toBe(0);
    await client.query('ROLLBACK');
    client.release();
    await replay.touch();
    await expect(verifier.verify(request())).resolves.toBeDefined();
  });
});

describe('the caller', () => {
  const pool = { connect: () => undefined, on: () => undefined };

  test.each([
    undefined,
    {},
    { on: pool.on, options: { connectionTimeoutMillis: 1 } },
    pool,
    { ...pool, options: {} },
    { ...pool, options: { connectionTimeoutMillis: 0 } },
    { ...pool, options: { connectionTimeoutMillis: 1 } },
    () => ({}),
  ])('must pass a pool with a connection timeout, not %o', (pool) => {
    expect(() => postgresReplayStore(pool as never, { replicas: 0 })).toThrow(TypeError);
  });

  test.each([
    undefined,
    {},
    { replicas: 0, acquireMs: 0 },
    { replicas: 0, acquireMs: 10_001 },
    { replicas: 0, timeout: 100 },
  ])('must pass valid options, not %o', async (options) => {
    const { pool } = await daemonOn(server);
    expect(() => postgresReplayStore(pool, options as never)).toThrow(TypeError);
  });

  test('may pass the greatest values', async () => {
    const { pool } = await daemonOn(server);
    postgresReplayStore(pool, { replicas: 0, acquireMs: 10_000 }).close();
  });
});

describe('the pool', () => {
  test('serves 500 concurrent spends with ten connections', async () => {
    const { verifier, request } = await daemonOn(server, { timeoutMs: 5000, acquireMs: 10_000 });
    const requests = Array.from({ length: 500 }, () => request());
    const verdicts = await Promise.allSettled(requests.map((signed) => verifier.verify(signed)));
    expect(verdicts.filter(({ status }) => status === 'rejected')).toEqual([]);
  });

  test('without a free connection does not count as a silent server: the next spend is sent', async () => {
    const { verifierOn, request } = await daemonOn(server);
    const { pool, verifier, replay } = verifierOn(server.url, { acquireMs: 50 });
    await replay.ready();
    const taken = await Promise.all(Array.from({ length: 10 }, () => pool.connect()));
    await expect(verifier.verify(request())).rejects.toMatchObject({
      code: 'replay_store_unavailable',
      message: expect.stringContaining('50 ms'),
    });
    for (const connection of taken) connection.release();
    await expect(verifier.verify(request())).resolves.toBeDefined();
  });

  test('keeps the process of the recipe in README alive when the server closes its connections', async () => {
    const daemon = await startRecipe(`const pool = new Pool`, { connectionString: server.url });
    await sql(
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
       WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    );
    await daemon.ready();
  });
});

describe('postgres.js', () => {
  test('accepts a proof once', async () => {
    const make = () => postgres(server.url, { max: 4, onnotice: () => undefined });
    const { internId, signer, request } = await daemonOn(server);
    const replay = postgresReplayStore(make, { replicas: 0, timeoutMs: 5000 });
    onTestFinished(() => replay.close());
    const verifier = createVerifier({ internId, keys: createLocalKeySet(signer.jwks), replay });
    await replay.ready();
    const signed = request();
    const verdicts = await Promise.allSettled(Array.from({ length: 50 }, () => verifier.verify(signed)));
    expect(verdicts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const verdict of verdicts) {
      if (verdict.status === 'rejected') expect(verdict.reason).toMatchObject({ code: 'nonce_replayed' });
    }
    await expect(verifier.verify(request({ version: 2 }))).resolves.toBeDefined();
  });

  test('goes on when the server closes its connections', async () => {
    const admin = postgres(server.url, { max: 1 });
    const connection = { application_name: 'closed' };
    // Without a query of its own at the start of a connection.
    const make = () => postgres(server.url, { max: 2, fetch_types: false, backoff: () => 0, connection });
    onTestFinished(() => admin.end());
    const { internId, signer, request } = await daemonOn(server);
    const replay = postgresReplayStore(make, { replicas: 0, timeoutMs: 5000 });
    onTestFinished(() => replay.close());
    const verifier = createVerifier({ internId, keys: createLocalKeySet(signer.jwks), replay });
    for (let round = 0; round < 3; round++) {
      await replay.ready();
      await expect(verifier.verify(request())).resolves.toBeDefined();
      const close = admin`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'closed'`;
      await Promise.allSettled([close, ...Array.from({ length: 8 }, () => verifier.verify(request()))]);
    }
  });

  test('is refused if a standby must confirm', () => {
    expect(() => postgresReplayStore(() => postgres(server.url), { replicas: 1 })).toThrow(TypeError);
  });

  test('is refused as a client, whose silent connections the store could not replace', () => {
    const client = postgres(server.url) as unknown as () => never;
    expect(() => postgresReplayStore(client, { replicas: 0 })).toThrow(
      /pass a function that makes the client/,
    );
  });
});
