import { EventEmitter } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { startDismissingPostgres } from '@ori/test-env/dismissing-postgres';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { daemonOn, openPool, query, startLedgerServer } from '../../../../../../test/wings/postgres/world.ts';
import { createLocalKeySet } from '../../keys/local.ts';
import { createVerifier } from '../../verifier.ts';
import type { Spend } from '../replay-store.ts';
import type { PostgresPool } from './client.ts';
import { type PostgresReplayStoreOptions, postgresReplayStore } from './store.ts';

/** A pool whose checks of the server are held back until `release` is called. */
function holdTouches(pool: PostgresPool) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let answers = 0;
  const connect = async () => {
    const connection = await pool.connect();
    const held: typeof connection = Object.create(connection);
    held.query = async (text, values) => {
      const answer = await connection.query(text, values);
      if (text.includes('ori_replay.touch(')) {
        answers += 1;
        await released;
      }
      return answer;
    };
    held.release = (destroy) => connection.release(destroy);
    return held;
  };
  const on: PostgresPool['on'] = (event, listener) => pool.on(event, listener);
  return { pool: { options: pool.options, idleCount: 0, connect, on }, release, answers: () => answers };
}

test('a check that began before a doubt arose does not settle it', async () => {
  const server = await startLedgerServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const { internId, signer, request } = await daemonOn(server);
  const held = holdTouches(openPool(server.url));
  const replay = postgresReplayStore(held.pool, { replicas: 0, timeoutMs: 5000, touchSeconds: 60 });
  onTestFinished(() => replay.close());
  const keys = createLocalKeySet(signer.jwks);
  const verifier = createVerifier({ internId, keys, replay });
  await expect.poll(held.answers).toBe(1);

  await query(server.url, 'ALTER FUNCTION ori_replay.spend RENAME TO spend_elsewhere');
  await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
  const touched = replay.touch();
  held.release();
  await touched;
  expect(held.answers()).toBe(2);
});

test('a connection that the server closes while accepting it does not end the process', async () => {
  await using server = await startDismissingPostgres();
  const replay = postgresReplayStore(openPool(server.url), {
    replicas: 0,
    timeoutMs: 5000,
    touchSeconds: 60,
  });
  onTestFinished(() => replay.close());
  replay.attach({ internId: 'int_1', maxAgeSeconds: 60, clockToleranceSeconds: 1, acceptV1: false });
  await expect(replay.touch()).rejects.toMatchObject({ code: 'replay_store_unavailable' });
});

const POLICY = { internId: 'int_1', maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false };
const NONCE = Buffer.alloc(16, 1);
const V1_ID = Buffer.alloc(32, 2);
const STATE = { event: 1, identity: 'a', lsn: '0/1' };
const NEVER = new Promise(() => undefined);

function fakeClock(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

/** A store, checked once, over a pool whose server answers each function as `says` says: a row, or what makes one. */
async function fakeWorld(options: Partial<PostgresReplayStoreOptions> = {}) {
  fakeClock();
  const says: Record<string, unknown> = {
    waiting: { verdict: 'touched' },
    touch: { verdict: 'touched', version: 1, ...STATE },
    spend: { verdict: 'spent', ...STATE },
    forget: { verdict: 'forgot' },
  };
  const answerTo = (name: string): unknown => {
    const said = says[name];
    return typeof said === 'function' ? said() : said;
  };
  const sent: string[] = [];
  /** The last arguments of each function. */
  const given: Record<string, unknown[]> = {};
  const released: unknown[] = [];
  const connection = Object.assign(new EventEmitter(), {
    async query(text: string, values: unknown[]) {
      const name = /ori_replay\.(\w+)/.exec(text)?.[1] ?? '';
      sent.push(name);
      given[name] = values;
      return { rows: [await answerTo(name)] };
    },
    release: (destroy?: boolean) => void released.push(destroy),
  });
  const pool = Object.assign(new EventEmitter(), {
    options: { connectionTimeoutMillis: 1000 },
    idleCount: 0,
    // Not what makes it a client of postgres.js.
    unsafe: undefined,
    async connect() {
      await answerTo('connect');
      return connection;
    },
  });
  const store = postgresReplayStore(pool, { replicas: 0, now: () => 2000, ...options });
  onTestFinished(() => store.close());
  store.attach(POLICY);
  await store.touch();
  /** 'spent', or the code of the error. */
  const spend = async (
    nonce: Pick<Spend, 'nonce'> = { nonce: NONCE.toString('base64url') },
  ): Promise<unknown> => {
    const v1Id = () => V1_ID.toString('hex');
    const proof = {
      policy: POLICY,
      timestamp: 2,
      nowMs: 2000,
      signingInput: new Uint8Array(),
      v1Id,
      ...nonce,
    };
    const said = await store.spend(proof).catch((error) => error.code);
    // For a check that the store starts by itself.
    await nextTurn();
    return said;
  };
  return { store, pool, connection, spend, says, sent, given, released };
}

const sqlError = (code: string): Error => Object.assign(new Error('refused'), { code });

test.each([
  [sqlError('53100'), 'replay_store_full', 'spent'],
  [sqlError('53300'), 'replay_store_unavailable', 'spent'],
  [sqlError('57014'), 'replay_store_unavailable', 'spent'],
  [new Error('without a code'), 'replay_store_unavailable', 'spent'],
  [undefined, 'replay_store_unavailable', 'spent'],
  [sqlError('25006'), 'replay_store_unsafe', 'replay_store_unsafe'],
  [sqlError('42883'), 'replay_store_unsafe', 'replay_store_unsafe'],
])('a spend that fails with %o says %s, and the next one %s', async (error, said, then) => {
  const { spend, says } = await fakeWorld();
  const { spend: spent } = says;
  says['spend'] = () => Promise.reject(error);
  expect(await spend()).toBe(said);
  says['spend'] = spent;
  expect(await spend()).toBe(then);
});

test.each([
  [sqlError('57P01'), 'the server refused: the server is shutting down (SQLSTATE 57P01)'],
  [Object.assign(new Error(), { code: 'ECONNRESET' }), 'the store did not answer: ECONNRESET'],
  [Object.assign(new Error(), { code: 'canary of a pool' }), 'the store did not answer'],
  [Object.assign(new Error(), { code: 7 }), 'the store did not answer'],
])('quotes of %o nothing but a code', async (error, message) => {
  const { store, says } = await fakeWorld();
  says['touch'] = () => Promise.reject(error);
  const quoted: Error = await store.touch().catch((refused) => refused);
  expect(quoted.message.split(' (see ')[0]).toBe(message);
});

/** As PostgreSQL sends it with `lc_messages = 'de_DE.UTF-8'`. */
const CANCELED = {
  severity: 'WARNUNG',
  code: '01000',
  routine: 'SyncRepWaitForLSN',
  message: 'storniere Warten auf synchrone Replikation wegen Benutzeraufforderung',
};
const WRAPAROUND = { severity: 'WARNING', code: '01000', routine: 'GetNewTransactionId' };

test.each([
  [CANCELED, 'replay_store_unsafe', true],
  [{ severity: 'NOTICE' }, 'replay_store_unsafe', true],
  [WRAPAROUND, 'spent', false],
])('a spend with the notice %o says %s', async (notice, said, closes) => {
  const { spend, says, connection, released } = await fakeWorld();
  const { spend: spent } = says;
  says['spend'] = () => connection.emit('notice', notice) && spent;
  expect(await spend()).toBe(said);
  expect(released).toEqual([false, closes]);
  expect(await spend()).toBe(said);
});

test('a silent server is not asked again until a check finds it well, and its connection is closed', async () => {
  const { spend, store, says, sent, released, connection } = await fakeWorld();
  const { spend: spent } = says;
  says['spend'] = NEVER;
  const asked = spend();
  await vi.advanceTimersByTimeAsync(200);
  expect(await asked).toBe('replay_store_unavailable');
  expect(released).toEqual([false, true]);
  // The connection may fail later.
  connection.emit('error', new Error('closed'));
  says['spend'] = spent;
  expect(await spend()).toBe('replay_store_unavailable');
  expect(sent.filter((name) => name === 'spend')).toHaveLength(1);
  await store.touch();
  expect(await spend()).toBe('spent');
});

test('the second missing answer closes the idle connections of the pool', async () => {
  const { spend, says, released, pool, store } = await fakeWorld();
  pool.idleCount = 3;
  for (const name of ['spend', 'touch']) says[name] = NEVER;
  const asked = spend();
  await vi.advanceTimersByTimeAsync(200);
  expect(await asked).toBe('replay_store_unavailable');
  expect(released).toEqual([false, true]);
  const touched = store.touch().catch((error) => error.code);
  await vi.advanceTimersByTimeAsync(200);
  expect(await touched).toBe('replay_store_unavailable');
  expect(released).toEqual([false, true, true, true, true, true]);
});

test.each([
  ['28P01', 'the server refused: the password is wrong (SQLSTATE 28P01)'],
  ['XX000', 'the server refused: SQLSTATE XX000'],
  ['ECONNREFUSED', 'the store did not answer: ECONNREFUSED'],
])('an error %s is told in words that contain nothing of its message', async (code, words) => {
  const { store, says } = await fakeWorld();
  says['touch'] = () => Promise.reject(sqlError(code));
  await expect(store.touch()).rejects.toThrow(words);
});

test('a refused spend starts a check, at most every 100 ms', async () => {
  const { spend, store, says, sent } = await fakeWorld();
  const { touch } = says;
  says['touch'] = { verdict: 'unsafe', detail: 'fsync is off' };
  await vi.advanceTimersByTimeAsync(1000);
  await expect(store.touch()).rejects.toMatchObject({ code: 'replay_store_unsafe' });
  says['touch'] = touch;
  await vi.advanceTimersByTimeAsync(99);
  expect(await spend()).toBe('replay_store_unsafe');
  expect(sent).toEqual(['touch', 'touch']);
  await vi.advanceTimersByTimeAsync(2);
  expect(await spend()).toBe('replay_store_unsafe');
  expect(sent).toEqual(['touch', 'touch', 'touch']);
  expect(await spend()).toBe('spent');
});

test.each([
  ['an unsafe server', 1, { verdict: 'unsafe', detail: 'fsync is off' }, {}],
  ['a version 1 proof before the fence', 1, { verdict: 'before_fence', pause: 3, ...STATE }, {}],
  ['a version 2 proof before the fence', 0, { verdict: 'before_fence', pause: 3, ...STATE }, undefined],
  ['a replay', 0, { verdict: 'replayed', ...STATE }, {}],
])('a spend that finds %s starts %i checks', async (_what, checks, answer, nonce) => {
  const { spend, says, sent } = await fakeWorld();
  says['spend'] = answer;
  expect(await spend(nonce)).not.toBe('spent');
  expect(sent).toEqual(['touch', 'spend', ...Array(checks).fill('touch')]);
});

test('a connection that comes too late is returned unused, and the next spend is sent', async () => {
  const { spend, says, sent, released } = await fakeWorld();
  says['connect'] = new Promise((resolve) => setTimeout(resolve, 1500));
  const asked = spend();
  await vi.advanceTimersByTimeAsync(1000);
  expect(await asked).toBe('replay_store_unavailable');
  expect(released).toEqual([false]);
  await vi.advanceTimersByTimeAsync(500);
  expect(released).toEqual([false, undefined]);
  expect(sent).not.toContain('spend');
  expect(await spend()).toBe('spent');
});

test('a spend says what the verifier knows, and the time after its wait for a connection', async () => {
  const { spend, says, given, connection } = await fakeWorld({ replicas: 3, timeoutMs: 300 });
  says['connect'] = new Promise((resolve) => setTimeout(resolve, 50));
  const asked = spend();
  await vi.advanceTimersByTimeAsync(50);
  expect(await asked).toBe('spent');
  const facts = Object.values(STATE);
  expect(given['spend']).toEqual(['int_1', 2, NONCE, V1_ID, 2.05, ...facts, 92, 2, 2, 300]);
  expect(await spend({})).toBe('spent');
  expect(given['spend']).toEqual(['int_1', 2, null, V1_ID, 2, ...facts, 92, 2, 2, 300]);
  expect(given['touch']).toEqual(['int_1', false, 2, 0, '', '0/0', 2, 2, 300, null]);
  expect(connection.eventNames()).toEqual([]);
});

test.each([
  ['a later position', { lsn: '0/FFFFFFFF' }, { lsn: '1/0' }, [1, 'a', '1/0']],
  ['no earlier position', { lsn: '0/10' }, { lsn: '0/9' }, [1, 'a', '0/10']],
  ['a later event', { lsn: '0/10' }, { event: 2, identity: 'b', lsn: '0/9' }, [2, 'b', '0/9']],
  ['no earlier event', { event: 3 }, { event: 2, identity: 'b', lsn: '0/9' }, [3, 'a', '0/1']],
])('of two answers the verifier remembers %s', async (_what, first, second, facts) => {
  const { spend, says, given } = await fakeWorld();
  for (const state of [first, second]) {
    says['spend'] = { verdict: 'spent', ...STATE, ...state };
    await spend();
  }
  await spend();
  expect(given['spend']?.slice(5, 8)).toEqual(facts);
});

describe('a check', () => {
  test('forgets what is due, and nothing else, and does not depend on it', async () => {
    const { store, says, sent, given, spend } = await fakeWorld();
    says['touch'] = { ...(says['touch'] as object), due: true };
    await store.touch();
    expect(sent).toEqual(['touch', 'touch', 'forget']);
    expect(given['forget']).toEqual([2, 2, 0]);
    says['forget'] = NEVER;
    const touched = store.touch();
    await vi.advanceTimersByTimeAsync(200);
    await expect(touched).resolves.toBeUndefined();
    expect(await spend()).toBe('spent');
  });

  test.each([
    [{ verdict: 'unsafe', detail: 'commits wait for a standby' }, 'replay_store_unsafe'],
    [{}, 'replay_store_unavailable'],
    [undefined, 'replay_store_unavailable'],
  ])('with standbys first asks whether commits wait for one: %o', async (answer, code) => {
    const { store, says, sent, given } = await fakeWorld({ replicas: 1 });
    expect(sent).toEqual(['waiting', 'touch']);
    expect(given['waiting']).toEqual([]);
    says['waiting'] = answer;
    await expect(store.touch()).rejects.toMatchObject({ code });
    expect(sent).toEqual(['waiting', 'touch', 'waiting']);
  });

  test('is shared by those who ask at the same time', async () => {
    const { store, sent } = await fakeWorld();
    await Promise.all([store.touch(), store.touch()]);
    expect(sent).toEqual(['touch', 'touch']);
  });

  test('covers each intern, with version 1 if one of its verifiers accepts it', async () => {
    const { store, sent, given } = await fakeWorld();
    for (const acceptV1 of [true, false]) store.attach({ ...POLICY, acceptV1 });
    await store.touch();
    await store.touch();
    expect(given['touch']?.slice(0, 2)).toEqual(['int_1', true]);
    store.attach({ ...POLICY, internId: 'int_2' });
    await store.touch();
    sent.length = 0;
    await store.touch();
    expect(sent).toEqual(['touch', 'touch']);
    expect(given['touch']?.slice(0, 2)).toEqual(['int_2', false]);
  });

  test('is made when a verifier comes, and every 2 s until the store is closed', async () => {
    const { store, sent } = await fakeWorld();
    store.attach(POLICY);
    await nextTurn();
    expect(sent).toEqual(['touch', 'touch']);
    await vi.advanceTimersByTimeAsync(2000);
    await nextTurn();
    expect(sent).toEqual(['touch', 'touch', 'touch']);
    store.close();
    expect(vi.getTimerCount()).toBe(0);
  });
});

test('errors of the pool and of its connections are listened to once, however many stores use it', async () => {
  const { pool } = await fakeWorld();
  postgresReplayStore(pool, { replicas: 0 }).close();
  expect([pool.listenerCount('error'), pool.listenerCount('connect')]).toEqual([1, 1]);
  const opened = new EventEmitter();
  pool.emit('connect', opened);
  expect(opened.listenerCount('error')).toBe(1);
});
