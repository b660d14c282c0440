import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Reply } from '../env/http-client.ts';
import { type PostgresServer, startPostgres } from '../env/postgres.ts';
import { type RedisServer, startRedis } from '../env/redis.ts';
import { reasonOf, startWorld, type World } from '../env/world.ts';

/** The contract's time limit for every answer while a dependency is missing. */
const ANSWER_MS_MAX = 1000;
/** How long database facts, and those of an introspected token, may be cached. */
const GATE_MEMORY_MS = 1000;
const INTROSPECTION_MEMORY_MS = 5000;
const COOL_DOWN_SECONDS = 1;
const ASKED_AT_ONCE = 5;

/** The answer to each kind of credential that a fault affects differently: a proof, or the reason for the refusal. */
const ALL_WELL = {
  'JWT, known key': 'proof',
  'JWT, unknown key': 'proof',
  'opaque, seen': 'proof',
  'opaque, unseen': 'proof',
  'API key': 'personal_identity_required',
};
type Shape = keyof typeof ALL_WELL;
type Gets = Readonly<Record<Shape, string>>;
const SHAPES = Object.keys(ALL_WELL) as Shape[];
const NOTHING = Object.fromEntries(SHAPES.map((shape) => [shape, 'internal_error'])) as Gets;
const WITHOUT_REDIS: Gets = { ...NOTHING, 'API key': 'personal_identity_required' };
const WITHOUT_ISSUER: Gets = {
  ...ALL_WELL,
  'JWT, unknown key': 'internal_error',
  'opaque, unseen': 'internal_error',
};

const stack = new AsyncDisposableStack();
let redis: RedisServer;
let postgres: PostgresServer;
let world: World;

beforeAll(async () => {
  [redis, postgres] = await Promise.all([startRedis(), startPostgres()]);
  stack.use(redis);
  stack.use(postgres);
  const environment = { ISSUER_COOL_DOWN_SECONDS: String(COOL_DOWN_SECONDS) };
  world = stack.use(await startWorld({ process: true, redis, postgres, environment }));
});
afterAll(() => stack.disposeAsync());

type Deed = () => Promise<void> | void;
const issuer = (behaviour: Parameters<World['issuer']['behave']>[0]) => () => world.issuer.behave(behaviour);

test.each<readonly [fault: string, gets: Gets, cause: Deed, lift: Deed]>([
  ['none', ALL_WELL, () => {}, () => {}],
  ['Redis stopped', WITHOUT_REDIS, () => redis.kill(), () => redis.start()],
  ['Redis frozen', WITHOUT_REDIS, () => redis.freeze(), () => redis.thaw()],
  ['PostgreSQL stopped', NOTHING, () => postgres.stop(), () => postgres.start()],
  ['PostgreSQL frozen', NOTHING, () => postgres.freeze(), () => postgres.thaw()],
  ['issuer stopped', WITHOUT_ISSUER, () => world.issuer.stop(), () => world.issuer.start()],
  ['issuer frozen', WITHOUT_ISSUER, issuer('frozen'), issuer('good')],
  ['issuer slow, 3 s', WITHOUT_ISSUER, issuer({ slowMs: 3000 }), issuer('good')],
  ['issuer answers 500', WITHOUT_ISSUER, issuer('error'), issuer('good')],
  ['issuer redirects', WITHOUT_ISSUER, issuer('redirecting'), issuer('good')],
  ['issuer answers 16 MiB', WITHOUT_ISSUER, issuer('huge'), issuer('good')],
  ['issuer answers half a JSON', WITHOUT_ISSUER, issuer('malformed'), issuer('good')],
])(
  '%s: timely answers, no proof after the cache time, recovery without a restart',
  async (_, gets, cause, lift) => {
    const pid = world.signer.pid;
    const credentials = await prepare();
    await pause(COOL_DOWN_SECONDS * 1000);
    await cause();
    const found: Gets[] = [];
    try {
      await askAll({ ...credentials, 'JWT, unknown key': await world.token() });
      await pause(GATE_MEMORY_MS);
      found.push(...(await Promise.all(Array.from({ length: ASKED_AT_ONCE }, () => askAll(credentials)))));
    } finally {
      await lift();
    }
    await wellAgain(credentials);
    expect(found).toEqual(Array(ASKED_AT_ONCE).fill(gets));
    expect(world.signer.pid).toBe(pid);
  },
  60_000,
);

test('an opaque token is accepted for at most 5 s without its issuer', async () => {
  const seen = (await prepare())['opaque, seen'];
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
  await wellAgain(await prepare());
});

/** A new credential of each shape: the unknown key is published by the issuer, and the signer has not fetched it. */
async function prepare(): Promise<Gets> {
  const seen = world.issuer.opaqueToken();
  expect((await world.sign({ bearer: seen })).status).toBe(200);
  const kid = await world.issuer.addKey('ES256', true);
  return {
    'JWT, known key': await world.token(),
    'JWT, unknown key': await world.token({ signWith: { kid } }),
    'opaque, seen': seen,
    'opaque, unseen': world.issuer.opaqueToken(),
    'API key': world.demo.apiKey,
  };
}

/** What each credential gets, in time. */
async function askAll(credentials: Gets): Promise<Gets> {
  const entries = SHAPES.map(async (shape) => {
    const reply = await world.sign({ bearer: credentials[shape] });
    expect(reply.milliseconds).toBeLessThan(ANSWER_MS_MAX);
    return [shape, outcomeOf(reply)] as const;
  });
  return Object.fromEntries(await Promise.all(entries)) as Gets;
}

function outcomeOf(reply: Reply): string {
  if (reply.status !== 200) return reasonOf(reply) ?? `status ${reply.status}`;
  const proof = JSON.parse(reply.text) as Record<string, string>;
  return proof['x-ori-invoke-signature-v2'] ? 'proof' : 'an empty answer';
}

/** Polls until every credential gets its normal answer. */
function wellAgain(credentials: Gets): Promise<void> {
  return expect.poll(() => askAll(credentials), { timeout: 30_000, interval: 20 }).toEqual(ALL_WELL);
}
