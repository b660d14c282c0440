import { randomBytes } from 'node:crypto';
import type { PostgresServer } from '@ori/test-env/postgres-server';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  daemonOn,
  openPool,
  query,
  startLedgerServer,
  stepClock,
} from '../../../../../../test/wings/postgres/world.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startLedgerServer();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(async () => {
  await stepClock(server.url, 0);
  await sql('TRUNCATE ori_replay.spent; UPDATE ori_replay.ledger SET floor = -1');
});

const sql = (text: string) => query(server.url, text);
const rowsLeft = async (): Promise<number> =>
  Number((await sql('SELECT count(*) FROM ori_replay.spent'))[0]?.['count']);

/** A store with adjustable clocks of its own and of the server; nonces are numbers. */
async function steppable() {
  let ahead = 0;
  const world = await daemonOn(server, { now: () => Date.now() + ahead * 1000, touchSeconds: 60 });
  const policy = { internId: world.internId, maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false };
  const seconds = (): number => Math.floor(Date.now() / 1000) + ahead;
  const nonceOf = (id: number) => Buffer.alloc(16, `${id}.`).toString('base64url');
  const ask = async (id: number) => {
    const nowMs = Date.now() + ahead * 1000;
    const question = { policy, user: 'ada', nonce: nonceOf(id), timestamp: seconds(), nowMs };
    return await world.replay.answers.ask(question);
  };
  const spend = async (id: number, timestamp: number, more: object = {}): Promise<string> => {
    const nonce = nonceOf(id);
    const v1Id = () => randomBytes(32).toString('hex');
    const nowMs = Date.now() + ahead * 1000;
    try {
      const signingInput = new Uint8Array();
      await world.replay.spend({
        policy: { ...policy, ...more },
        timestamp,
        nowMs,
        nonce,
        v1Id,
        signingInput,
      });
      return 'spent';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const step = async (by: number): Promise<void> => {
    ahead += by;
    await stepClock(server.url, ahead);
  };
  return { ...world, ask, spend, seconds, step };
}

test('forgets what no verifier accepts any more, and nothing else', async () => {
  const { spend, seconds, step, replay } = await steppable();
  for (let turn = 0; turn < 10; turn += 1) {
    const timestamp = seconds();
    expect(await spend(turn, timestamp)).toBe('spent');
    await step(688);
    await replay.touch();
    expect(await rowsLeft()).toBe(1);
    expect(await spend(turn, timestamp)).toBe('proof_expired');
    await step(33);
    await replay.touch();
    expect(await rowsLeft()).toBe(0);
  }
}, 60_000);

test('forgets answers whose time is over, and processes that showed no sign of life for a day', async () => {
  const { replay } = await steppable();
  await sql(`INSERT INTO ori_replay.process SELECT name, ori_replay.clock() - age FROM (VALUES ('old', 86401), ('new', 86000)) p (name, age);
    INSERT INTO ori_replay.answer SELECT 'int', nonce, 'ada', 'old', 'lost', ori_replay.clock() + left_s
      FROM (VALUES ('old'::bytea, -31), ('new'::bytea, 60)) a (nonce, left_s)`);
  await replay.touch();
  expect(await sql('SELECT process FROM ori_replay.process')).toEqual([{ process: 'new' }]);
  expect(await sql(`SELECT convert_from(nonce, 'UTF8') AS nonce FROM ori_replay.answer`)).toEqual([
    { nonce: 'new' },
  ]);
});

test('a question voids its call for a verifier that tolerates more, too', async () => {
  const { ask, spend, seconds, step, replay } = await steppable();
  await step(1000);
  const asked = seconds();
  expect(await ask(1)).toBe('not_received');
  await step(692);
  await replay.touch();
  const more = { maxAgeSeconds: 600, clockToleranceSeconds: 60 };
  expect(await spend(1, asked + 58, more)).toBe('nonce_replayed');
});

test('never accepts a forgotten proof again, even if every clock goes back', async () => {
  const { spend, seconds, step, replay } = await steppable();
  const timestamp = seconds();
  expect(await spend(1, timestamp)).toBe('spent');
  await step(3000);
  await replay.touch();
  expect(await rowsLeft()).toBe(0);
  await step(-3000);
  await replay.touch();
  expect(await spend(1, timestamp)).toBe('proof_expired');
  expect(await spend(2, timestamp + 1)).toBe('spent');
});

test.each([-300, 300])(
  'neither forgets nor accepts anything while only the server’s clock is %i s off',
  async (by) => {
    const { spend, seconds, replay } = await steppable();
    const timestamp = seconds();
    expect(await spend(1, timestamp)).toBe('spent');
    const left = await rowsLeft();
    await stepClock(server.url, by);
    await expect(replay.touch()).rejects.toMatchObject({ code: 'replay_store_unsafe' });
    expect(await spend(1, timestamp)).toBe('replay_store_unsafe');
    await sql(`SELECT ori_replay.forget(extract(epoch FROM clock_timestamp())::float8, 2, 0)`);
    expect(await rowsLeft()).toBe(left);
    await stepClock(server.url, 0);
    await replay.touch();
    expect(await spend(1, timestamp)).toBe('nonce_replayed');
  },
);

const FORGET = 'SELECT verdict, detail FROM ori_replay.forget(ori_replay.clock(), 2, 0)';
const plantOldRow = () => sql(`INSERT INTO ori_replay.spent VALUES ('int', 'old', 1000)`);

test('forgets nothing where a spend would not be safe', async () => {
  await plantOldRow();
  const client = await openPool(server.url).connect();
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  const { rows } = await client.query(FORGET);
  await client.query('COMMIT');
  client.release();
  expect(rows).toEqual([{ verdict: 'unsafe', detail: 'transactions are not read committed' }]);
  expect(await rowsLeft()).toBe(1);
  expect(await sql(FORGET)).toEqual([{ verdict: 'forgot', detail: null }]);
  expect(await rowsLeft()).toBe(0);
});

test('leaves it to the one who is at it', async () => {
  await plantOldRow();
  const other = await openPool(server.url).connect();
  await other.query('BEGIN; SELECT pg_advisory_xact_lock(7309426, 1)');
  expect(await sql(FORGET)).toEqual([{ verdict: 'forgot', detail: null }]);
  expect(await rowsLeft()).toBe(1);
  await other.query('COMMIT');
  other.release();
  await sql(FORGET);
  expect(await rowsLeft()).toBe(0);
});

test('waits briefly for locks, and for a standby no longer than until it has written', async () => {
  const client = await openPool(server.url).connect();
  await client.query(`BEGIN; SET LOCAL synchronous_commit = 'remote_apply'`);
  await client.query(FORGET);
  const { rows } = await client.query(
    `SELECT current_setting('lock_timeout') AS lock, current_setting('synchronous_commit') AS commit`,
  );
  await client.query('ROLLBACK');
  client.release();
  expect(rows).toEqual([{ lock: '50ms', commit: 'on' }]);
});

test('forgets answers although it forgot later ones before the clock went back', async () => {
  await sql(`UPDATE ori_replay.ledger SET answers = ori_replay.clock() + 1000;
    INSERT INTO ori_replay.answer VALUES ('int', 'earlier', 'ada', 'p', 'lost', ori_replay.clock() - 40)`);
  await sql(FORGET);
  expect(await sql(`SELECT FROM ori_replay.answer WHERE nonce = 'earlier'`)).toEqual([]);
});

test('does not forget a row from the future', async () => {
  const { spend, seconds, step } = await steppable();
  await step(800);
  const timestamp = seconds();
  expect(await spend(1, timestamp)).toBe('spent');
  await step(-800);
  await sql('SELECT ori_replay.forget(ori_replay.clock(), 2, 0)');
  await step(800);
  expect(await spend(1, timestamp)).toBe('nonce_replayed');
});

test('a spend that was checked before its nonce was forgotten is refused', async () => {
  const { spend, seconds } = await steppable();
  const timestamp = seconds();
  expect(await spend(1, timestamp)).toBe('spent');
  const forgetter = await openPool(server.url).connect();
  await forgetter.query('BEGIN');
  await forgetter.query(`CREATE OR REPLACE FUNCTION ori_replay.clock() RETURNS double precision LANGUAGE sql VOLATILE
    AS $$ SELECT extract(epoch FROM pg_catalog.clock_timestamp())::double precision + 3000 $$`);
  await forgetter.query('SELECT ori_replay.forget(ori_replay.clock(), 2, 0)');
  const replayed = spend(1, timestamp);
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%ori_replay.spend%'`;
  await expect.poll(async () => (await sql(waiting)).length).toBe(1);
  await forgetter.query('COMMIT');
  forgetter.release();
  expect(await replayed).toBe('proof_expired');
});

test('a question voids a nonce of which only the mark is left, and the mark stays as long as the nonce', async () => {
  const { replay, internId, seconds } = await steppable();
  const policy = { internId, maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false, answers: {} };
  const nonce = 'A'.repeat(22);
  await sql(
    `INSERT INTO ori_replay.spent VALUES ('${internId}', 'x'::bytea || decode('${'00'.repeat(16)}', 'hex'), 1)`,
  );
  const ask = () =>
    replay.answers.ask({ policy, user: 'ada', nonce, timestamp: seconds() + 400, nowMs: Date.now() });
  expect(await ask()).toBe('not_received');
  await replay.touch();
  expect(await rowsLeft()).toBe(2);
  expect(await ask()).toBe('not_received');
});

test('a check reads nothing that was forgotten, although an open snapshot keeps it', async () => {
  const { replay } = await steppable();
  const reader = await openPool(server.url).connect();
  await reader.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM ori_replay.spent');
  await sql(`INSERT INTO ori_replay.spent SELECT 'int_lab', decode(md5(g::text), 'hex'), ori_replay.clock()::bigint - 4000 + g / 500
      FROM generate_series(1, 30000) g;
    INSERT INTO ori_replay.answer SELECT 'int_lab', decode(md5(g::text), 'hex'), 'ada', 'p', 'lost', ori_replay.clock() - 4000 + g / 500
      FROM generate_series(1, 30000) g;
    ANALYZE ori_replay.spent; ANALYZE ori_replay.answer`);
  for (let turn = 0; turn < 4; turn += 1) await replay.touch();
  expect(await rowsLeft()).toBe(0);
  const reads = async () =>
    Number(
      (
        await sql(`SELECT sum(idx_blks_read + idx_blks_hit + heap_blks_read + heap_blks_hit) AS blocks
          FROM pg_statio_user_tables WHERE relname IN ('spent', 'answer')`)
      )[0]?.['blocks'],
    );
  const one = openPool(server.url, { max: 1 });
  const counted = async () => {
    await one.query('SELECT pg_stat_force_next_flush()');
    return reads();
  };
  const before = await counted();
  for (let turn = 0; turn < 10; turn += 1) {
    await one.query(
      `SELECT ori_replay.touch('int_lab', false, ori_replay.clock(), 0, '', '0/0', 2, 0, 200, null)`,
    );
    await one.query('SELECT ori_replay.forget(ori_replay.clock(), 2, 0)');
  }
  // The rows of the second that was forgotten last, 30 for each call at most; there are 60,000 others.
  expect((await counted()) - before).toBeLessThan(10 * 2 * 100);
  reader.release(true);
});
