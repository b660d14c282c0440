import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type OtlpReceiver, startOtlpReceiver } from '../env/otlp-receiver.ts';
import { type PostgresServer, startPostgres } from '../env/postgres.ts';
import { type RedisServer, startRedis } from '../env/redis.ts';
import { startWorld, type World } from '../env/world.ts';
import { run } from '../hardening/signer-process.ts';
import { createScanner, type Leak } from './scanner.ts';
import {
  credentialRequests,
  type Evidence,
  oddRequests,
  plantCredentials,
  sendAll,
  sendBound,
} from './traffic.ts';

/** How long database facts are cached. A fault takes effect only afterwards. */
const GATE_MEMORY_MS = 1000;

const stack = new AsyncDisposableStack();
const evidence: Evidence = { canaries: {}, refusals: [], statuses: new Set() };
const places: Record<string, string> = {};
let redis: RedisServer;
let postgres: PostgresServer;
let world: World;
let collector: OtlpReceiver;

beforeAll(async () => {
  const password = randomBytes(18).toString('base64url');
  const introspectionClient = { id: 'ori-signer', secret: randomBytes(24).toString('base64url') };
  [redis, postgres] = await Promise.all([startRedis({ password }), startPostgres()]);
  stack.use(redis);
  stack.use(postgres);
  collector = stack.use(await startOtlpReceiver());
  const environment = {
    LOG_LEVEL: 'trace',
    OTLP_ENDPOINT: collector.url,
  };
  world = stack.use(await startWorld({ process: true, redis, postgres, introspectionClient, environment }));
  Object.assign(evidence.canaries, {
    redisPassword: password,
    databasePassword: new URL(world.environment['SIGNER_DATABASE_URL'] ?? '').password,
    introspectionSecret: introspectionClient.secret,
    seed: world.demo.seed,
    kek: Buffer.from(kekOf(world), 'base64url'),
    kekAsText: kekOf(world),
  });
}, 60_000);
afterAll(() => stack.disposeAsync());

test('valid and invalid requests get the expected answers', async () => {
  const bearers = await plantCredentials(world, evidence);
  await sendAll(world, credentialRequests(world, bearers), evidence);
  await sendAll(world, oddRequests(world, await world.token(), evidence), evidence);
  await sendBound(world, evidence);
  const expected = [200, 400, 401, 403, 404, 405, 415, 417, 431];
  expect([...evidence.statuses]).toEqual(expect.arrayContaining(expected));
}, 60_000);

test.each([
  ['Redis stopped', () => redis.kill(), () => redis.start()],
  ['PostgreSQL stopped', () => postgres.stop(), () => postgres.start()],
  ['issuer malformed', async () => world.issuer.behave('malformed'), async () => world.issuer.behave('good')],
])(
  '%s: records the output while it lasts',
  async (name, cause, lift) => {
    await cause();
    try {
      await pause(GATE_MEMORY_MS);
      const bearers = await plantCredentials(world, evidence);
      await sendAll(world, credentialRequests(world, bearers), evidence);
      await sendBound(world, evidence);
      places[`/readyz, ${name}`] = (await world.page('/readyz')).text;
    } finally {
      await lift();
    }
    await world.ready();
  },
  60_000,
);

test('a failing start names the variable, not its value', async () => {
  const broken = {
    SIGNER_REDIS_URL: `redis:/:${plant('redisUrl')}@h`,
    SIGNER_DATABASE_URL: '',
    SIGNER_INTROSPECTION_CLIENT_SECRET: plant('secret'),
    SIGNER_INTROSPECTION_CLIENT_ID: '',
    SIGNER_PROOF_MAX_AGE_SECONDS: '10m',
    SIGNER_REDIS_PASSWORD: plant('unknownName'),
  };
  const kek = join(dirname(world.environment['SIGNER_KEK_FILE'] ?? ''), 'broken.json');
  await writeFile(kek, `{"keys":[{"kty":"oct","k":"${plant('kekText')}"`, { mode: 0o600 });
  const starts = {
    'broken environment': broken,
    'broken KEK file': { SIGNER_KEK_FILE: kek },
    'occupied port': {},
  };
  await Promise.all(
    Object.entries(starts).map(async ([what, changes]) => {
      const { stdout, stderr } = await run('ori-signer', { ...world.environment, ...changes });
      places[`start, ${what}`] = stdout + stderr;
    }),
  );
  for (const output of Object.entries(places).filter(([place]) => place.startsWith('start'))) {
    expect(output[1].length, output[0]).toBeGreaterThan(20);
  }
}, 60_000);

test('no canary appears in a log, metric, trace, error, audit line, page, Redis key or the process list', async () => {
  const client = new Redis(redis.url);
  Object.assign(places, {
    log: world.signer.output.join('\n'),
    audit: await world.audit(),
    metrics: (await world.page('/metrics')).text,
    traces: collector.bodies.join('\n'),
    refusals: evidence.refusals.join('\n'),
    'Redis keys': (await client.keys('*')).join('\n'),
    'process list': await processList(world.signer.pid),
  });
  client.disconnect();
  expect(places['log']?.length).toBeGreaterThan(10_000);
  expect(places['audit']?.split('\n').length).toBeGreaterThan(2);
  expect(places['metrics']).toContain('signer_proofs_issued_total');
  expect(places['traces']).toContain('redis take');
  const total = Object.values(places).reduce((sum, text) => sum + text.length, 0);
  console.log(
    `${Object.keys(evidence.canaries).length} canaries looked for in ${total} characters of ${Object.keys(places).length} places`,
  );
  expect(leaks()).toEqual([]);
});

test.each(['latin1', 'hex', 'base64'] as const)('detects a planted leak of any canary, in %s', (encoding) => {
  const log = places['log'] ?? '';
  const planted = Object.values(evidence.canaries).map((secret) => Buffer.from(secret).toString(encoding));
  places['log'] = `${log}\n${planted.map((leak) => JSON.stringify({ msg: leak })).join('\n')}`;
  expect(new Set(leaks(['log']).map(({ canary }) => canary))).toEqual(
    new Set(Object.keys(evidence.canaries)),
  );
  places['log'] = log;
});

function leaks(of = Object.keys(places)): Leak[] {
  const scanner = createScanner(evidence.canaries);
  const found = of.flatMap((place) => scanner.scan(place, places[place] ?? ''));
  return [...new Map(found.map((leak) => [`${leak.canary} in ${leak.place}`, leak])).values()];
}

function plant(name: string): string {
  const canary = `${name}-${randomBytes(18).toString('base64url')}`;
  evidence.canaries[name] = canary;
  return canary;
}

function kekOf({ kekText }: World): string {
  const { keys } = JSON.parse(kekText) as { keys: { k: string }[] };
  return keys[0]?.k ?? '';
}

function processList(pid: number | undefined): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('ps', ['-ww', '-o', 'args=', '-p', String(pid)], (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });
}
