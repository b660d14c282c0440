import { randomBytes, randomInt } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { createTurnLimiter } from '@ori/turns/limiter';
import { postgresReplayStore } from '@ori/verifier/postgres';
import { POSTGRES_REPLAY_SQL } from '@ori/verifier/postgres/schema';
import { type RedisClient, redisReplayStore, type SharedReplayStore } from '@ori/verifier/redis';
import type { Redis } from 'ioredis';
import pg from 'pg';
import { findPostgres, startPostgres } from '../../../env/postgres-server.ts';
import { startRedis } from '../../../env/redis.ts';
import { openAdmin } from '../../../env/redis-admin.ts';
import { alternate, type Bench, type Finding, type Row } from '../row.ts';

const POLICY = { internId: 'int_7Qm2', maxAgeSeconds: 60, clockToleranceSeconds: 2, acceptV1: false };
const V1_ID = '00'.repeat(32);
const TOGETHER = 50;

/** CPU of the server for each spend, beside that of the least that could remember a nonce. */
export const storesRow: Row = {
  name: 'stores',
  missing: () => (findPostgres() === undefined ? 'no PostgreSQL on this machine' : undefined),
  run: async (bench) => [
    ...(await spendsInRedis(bench)),
    ...(await turnsInRedis(bench)),
    ...(await spendsInPostgres(bench)),
  ],
};

function spendIn(store: SharedReplayStore): () => Promise<unknown> {
  return async () =>
    store.spend({
      policy: POLICY,
      timestamp: Math.floor(Date.now() / 1000),
      nowMs: Date.now(),
      nonce: randomBytes(16).toString('base64url'),
      signingInput: new Uint8Array(),
      v1Id: () => V1_ID,
    });
}

/** Resolves when a proof of now is past the fence. */
async function pastFence(spend: () => Promise<unknown>): Promise<void> {
  while (
    !(await spend().then(
      () => true,
      () => false,
    ))
  )
    await pause(250);
}

const one = async (turn: () => Promise<unknown>): Promise<void> => void (await turn());
const together = async (turn: () => Promise<unknown>): Promise<void> =>
  void (await Promise.all(Array.from({ length: TOGETHER }, turn)));

/** Microseconds of `cpuSeconds` for each of so many turns. */
async function costOf(
  cpuSeconds: () => Promise<number>,
  count: number,
  turn: () => Promise<unknown>,
  by = one,
): Promise<number> {
  const before = await cpuSeconds();
  for (let done = 0; done < count; done += by === together ? TOGETHER : 1) await by(turn);
  return (((await cpuSeconds()) - before) / count) * 1e6;
}

async function spendsInRedis(bench: Bench): Promise<Finding[]> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startRedis());
  const redis = openAdmin(server.url);
  stack.defer(() => redis.disconnect());
  const cpuSeconds = () => cpuSecondsOf(redis);
  const open = (client: RedisClient) => {
    const store = redisReplayStore(client, { mode: 'spend', timeoutMs: 5000 });
    stack.defer(() => store.close());
    store.attach(POLICY);
    return spendIn(store);
  };
  const strict = { enableOfflineQueue: false, autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0 };
  const client = Object.create(redis, { options: { value: strict } }) as RedisClient;
  const { call: pipelined } = pipelining(redis);
  const [spend, spendPipelined] = [open(client), open(Object.create(client, { call: { value: pipelined } }))];
  await pastFence(spend);
  const set = (call: RedisClient['call']) => () =>
    call('SET', Buffer.concat([Buffer.from('ori:{int_7Qm2}:'), randomBytes(16)]), '1', 'NX', 'EX', 62);
  const naive = set((...command) => redis.call(...(command as [string])));
  const count = bench.isQuick ? 500 : 3000;
  const cost = (turn: () => Promise<unknown>, by?: typeof one) => () => costOf(cpuSeconds, count, turn, by);
  const measured = await alternate(bench, {
    'spend, pipelined': cost(spendPipelined, together),
    'SET NX EX, pipelined': cost(set(pipelined), together),
    'spend, one at a time': cost(spend),
    'SET NX EX, one at a time': cost(naive),
    'spend, 50 at once': cost(spend, together),
    'SET NX EX, 50 at once': cost(naive, together),
  });
  const finding = (how: string, atMost: number): Finding => {
    const side = (what: string) => ({
      name: what,
      rounds: measured[`${what}, ${how}` as keyof typeof measured],
    });
    return {
      title: `CPU of Redis, ${how}`,
      unit: 'µs for each',
      ours: side('spend'),
      theirs: side('SET NX EX'),
      mark: { atMost },
    };
  };
  return [finding('pipelined', 4), finding('one at a time', 2.5), finding('50 at once', 3.5)];
}

async function cpuSecondsOf(redis: Redis): Promise<number> {
  const cpu = await redis.info('cpu');
  return (
    Number(/_user_main_thread:([\d.]+)/.exec(cpu)?.[1]) + Number(/_sys_main_thread:([\d.]+)/.exec(cpu)?.[1])
  );
}

/** What a signer asks of Redis for a proof, 50 at once, beside two counters without a limit and a nonce. */
async function turnsInRedis(bench: Bench): Promise<Finding[]> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startRedis());
  const redis = openAdmin(server.url);
  stack.defer(() => redis.disconnect());
  const [, run] = /run_id:(\w+)/.exec(await redis.info('server')) ?? [];
  await redis.set('epoch', `${run} begun`);
  const epoch = { key: 'epoch', expected: 'begun', from: 0, until: 1e12 };
  const limits = { turnsPerUser: 1e9, turnsPerOrganization: 1e9, windowSeconds: 60 };
  const limiter = createTurnLimiter({ redis, ...limits });
  const claim = (kind: string) => ({
    key: `ori:{int_7Qm2}:${kind}:${randomBytes(16).toString('base64url')}`,
    value: V1_ID,
    keptMs: 155_000,
  });
  const userId = () => `user_${randomInt(1000)}`;
  const turn = (isBound: boolean) => async () => {
    const first = isBound ? { ...claim('dpop'), epoch } : undefined;
    const who = { userId: userId(), organizationId: 'org_1' };
    const taken = await limiter.takeAndClaim?.(who, { first, allowed: claim('issued') });
    if (typeof taken !== 'object' || !taken.claimed) throw new Error('a turn was refused');
  };
  const { call } = pipelining(redis);
  const naive = () => {
    const { key, value, keptMs } = claim('naive');
    return Promise.all([
      call('INCR', `naive:{${userId()}}`),
      call('INCR', 'naive:{org_1}'),
      call('SET', key, value, 'PX', keptMs, 'NX'),
    ]);
  };
  const count = bench.isQuick ? 500 : 3000;
  const cost = (one: () => Promise<unknown>) => () => costOf(() => cpuSecondsOf(redis), count, one, together);
  const measured = await alternate(bench, {
    unbound: cost(turn(false)),
    bound: cost(turn(true)),
    naive: cost(naive),
  });
  return (['unbound', 'bound'] as const).map((session) => ({
    title: `CPU of Redis, a proof (${session} session)`,
    unit: 'µs for each',
    ours: { name: 'turns and claims', rounds: measured[session] },
    theirs: { name: 'INCR, INCR, SET NX', rounds: measured.naive },
    mark: { atMost: 1.8 },
  }));
}

/** Sends the commands of one turn of the event loop as one pipeline. */
function pipelining(redis: Redis): Pick<RedisClient, 'call'> {
  let waiting: { command: unknown[]; settle(error: Error | null, answer: unknown): void }[] = [];
  const flush = async () => {
    const sent = waiting;
    waiting = [];
    const answers = (await redis.pipeline(sent.map(({ command }) => command)).exec()) ?? [];
    for (const [index, [error, answer]] of answers.entries()) sent[index]?.settle(error, answer);
  };
  return {
    call: (command, ...args) =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(flush);
        const settle = (error: Error | null, answer: unknown) => (error ? reject(error) : resolve(answer));
        waiting.push({ command: [command.toLowerCase(), ...args], settle });
      }),
  };
}

async function spendsInPostgres(bench: Bench): Promise<Finding[]> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startPostgres({ settings: ['fsync=on', 'full_page_writes=on'] }));
  const pool = new pg.Pool({ connectionString: server.url, max: 1, connectionTimeoutMillis: 5000 });
  stack.defer(() => pool.end());
  await pool.query(POSTGRES_REPLAY_SQL);
  await pool.query(
    'CREATE TABLE naive (intern text, nonce bytea, stamped bigint, PRIMARY KEY (intern, nonce))',
  );
  const store = postgresReplayStore(pool, { replicas: 0, timeoutMs: 5000, touchSeconds: 60 });
  stack.defer(() => store.close());
  store.attach(POLICY);
  const spend = spendIn(store);
  await pastFence(spend);
  const { pid } = (await pool.query('SELECT pg_backend_pid() AS pid')).rows[0];
  const cpuSeconds = async () =>
    Number((await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')[0]) / 1e9;
  const insert = () =>
    pool.query('INSERT INTO naive VALUES ($1, $2, $3) ON CONFLICT DO NOTHING', [
      POLICY.internId,
      randomBytes(16),
      Math.floor(Date.now() / 1000),
    ]);
  const count = bench.isQuick ? 200 : 500;
  const measured = await alternate(bench, {
    spend: () => costOf(cpuSeconds, count, spend),
    insert: () => costOf(cpuSeconds, count, insert),
  });
  return [
    {
      title: 'CPU of a backend of PostgreSQL',
      unit: 'µs for each',
      ours: { name: 'spend', rounds: measured.spend },
      theirs: { name: 'INSERT … ON CONFLICT DO NOTHING', rounds: measured.insert },
      mark: { atMost: 2 },
    },
  ];
}
