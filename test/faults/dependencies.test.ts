import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PostgresServer, startPostgres } from '../env/postgres.ts';
import { type RedisServer, startRedis } from '../env/redis.ts';
import { renderTable } from '../env/text-table.ts';
import { startWorld, type World } from '../env/world.ts';
import {
  ALL_WELL,
  type Asked,
  askAll,
  type Credentials,
  type Outcome,
  prepare,
  TOKEN_SHAPES,
  type TokenShape,
} from './token-shapes.ts';

/** The contract's time limit for every answer while a dependency is missing. */
const ANSWER_MS_MAX = 1000;
/** How long database facts, and those of an introspected token, may be cached. */
const GATE_MEMORY_MS = 1000;
const INTROSPECTION_MEMORY_MS = 5000;
const COOL_DOWN_SECONDS = 1;
const ASKED_AT_ONCE = 5;

const NOTHING: Readonly<Record<TokenShape, Outcome>> = {
  'JWT, known key': 'internal_error',
  'JWT, unknown key': 'internal_error',
  'opaque, seen': 'internal_error',
  'opaque, unseen': 'internal_error',
  'API key': 'internal_error',
};
const WITHOUT_REDIS = { ...NOTHING, 'API key': 'personal_identity_required' };
const WITHOUT_ISSUER = {
  ...ALL_WELL,
  'JWT, unknown key': 'internal_error',
  'opaque, unseen': 'internal_error',
};

const stack = new AsyncDisposableStack();
let redis: RedisServer;
let postgres: PostgresServer;
let world: World;
const table: string[][] = [['fault', ...TOKEN_SHAPES, 'slowest', 'well again after']];

beforeAll(async () => {
  [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  stack.use(redis);
  stack.use(postgres);
  const environment = { ISSUER_COOL_DOWN_SECONDS: String(COOL_DOWN_SECONDS) };
  world = stack.use(await startWorld({ process: true, redis, postgres, environment }));
});
afterAll(async () => {
  console.log(`What each credential gets, ${ASKED_AT_ONCE} times at once:\n${renderTable(table)}`);
  await stack.disposeAsync();
});

interface Fault {
  readonly name: string;
  readonly gets: Readonly<Record<TokenShape, Outcome>>;
  cause(): Promise<void> | void;
  lift(): Promise<void> | void;
}

const issuerFault = (name: string, behaviour: Parameters<World['issuer']['behave']>[0]): Fault => ({
  name: `issuer ${name}`,
  gets: WITHOUT_ISSUER,
  cause: () => world.issuer.behave(behaviour),
  lift: () => world.issuer.behave('good'),
});

const FAULTS: readonly Fault[] = [
  { name: 'none', gets: ALL_WELL, cause() {}, lift() {} },
  { name: 'Redis stopped', gets: WITHOUT_REDIS, cause: () => redis.kill(), lift: () => redis.start() },
  { name: 'Redis frozen', gets: WITHOUT_REDIS, cause: () => redis.freeze(), lift: () => redis.thaw() },
  { name: 'PostgreSQL stopped', gets: NOTHING, cause: () => postgres.stop(), lift: () => postgres.start() },
  { name: 'PostgreSQL frozen', gets: NOTHING, cause: () => postgres.freeze(), lift: () => postgres.thaw() },
  {
    name: 'issuer stopped',
    gets: WITHOUT_ISSUER,
    cause: () => world.issuer.stop(),
    lift: () => world.issuer.start(),
  },
  issuerFault('frozen', 'frozen'),
  issuerFault('slow, 3 s', { slowMs: 3000 }),
  issuerFault('answers 500', 'error'),
  issuerFault('redirects', 'redirecting'),
  issuerFault('answers 16 MiB', 'huge'),
  issuerFault('answers half a JSON', 'malformed'),
];

test.each(FAULTS)(
  '$name: timely answers, no proof after the cache time, recovery without a restart',
  async (fault) => {
    const pid = world.signer.pid;
    const credentials = await prepare(world);
    await pause(COOL_DOWN_SECONDS * 1000);
    await fault.cause();
    let slowest = 0;
    let asked: Record<TokenShape, Asked[]>;
    try {
      const atOnce = await askAll(world, { ...credentials, 'JWT, unknown key': await world.token() }, 1);
      slowest = slowestOf(atOnce);
      await pause(GATE_MEMORY_MS);
      asked = await askAll(world, credentials, ASKED_AT_ONCE);
      slowest = Math.max(slowest, slowestOf(asked));
    } finally {
      await fault.lift();
    }
    const wellAgainMs = await wellAgain(credentials);
    const gets = Object.fromEntries(TOKEN_SHAPES.map((shape) => [shape, outcomes(asked[shape])]));
    const cells = TOKEN_SHAPES.map((shape) => gets[shape] ?? '');
    table.push([fault.name, ...cells, `${slowest.toFixed(0)} ms`, `${wellAgainMs.toFixed(0)} ms`]);
    expect(gets).toEqual(fault.gets);
    expect(slowest).toBeLessThan(ANSWER_MS_MAX);
    expect(world.signer.pid).toBe(pid);
  },
  60_000,
);

test('an opaque token is accepted for at most 5 s without its issuer', async () => {
  const seen = (await prepare(world))['opaque, seen'];
  await world.issuer.stop();
  try {
    expect((await world.sign({ bearer: seen })).status).toBe(200);
    await pause(INTROSPECTION_MEMORY_MS);
    expect((await world.sign({ bearer: seen })).status).toBe(500);
  } finally {
    await world.issuer.start();
  }
});

test('a signer that starts without its dependencies reports it and works once they are up', async () => {
  await world.signer.stop();
  await Promise.all([redis.stop(), postgres.stop(), world.issuer.stop()]);
  try {
    await world.signer.start();
    const { status, text } = await world.page('/readyz');
    expect(status).toBe(503);
    expect(JSON.parse(text)).toMatchObject({ checks: { audit: 'ok' } });
    const reply = await world.sign();
    expect(reply.status).toBe(500);
    expect(reply.milliseconds).toBeLessThan(ANSWER_MS_MAX);
  } finally {
    await Promise.all([redis.start(), postgres.start(), world.issuer.start()]);
  }
  await world.ready();
  await wellAgain(await prepare(world));
});

/** Polls until every credential gets its normal answer. The test's timeout is the limit. */
async function wellAgain(credentials: Credentials): Promise<number> {
  const start = performance.now();
  for (;;) {
    const asked = await askAll(world, credentials, 1);
    if (TOKEN_SHAPES.every((shape) => outcomes(asked[shape]) === ALL_WELL[shape])) break;
    await pause(20);
  }
  return performance.now() - start;
}

function outcomes(asked: readonly Asked[]): Outcome {
  return [...new Set(asked.map(({ outcome }) => outcome))].join(' | ');
}

function slowestOf(asked: Readonly<Record<TokenShape, readonly Asked[]>>): number {
  return Math.max(...Object.values(asked).flatMap((list) => list.map(({ milliseconds }) => milliseconds)));
}
