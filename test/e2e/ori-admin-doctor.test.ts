import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startOpsServer } from '../../libs/internal/http/src/observe/ops.ts';
import { type RedisServer, startRedis } from '../env/redis.ts';
import { type OperatorWorld, startOperatorWorld } from './ori-admin-world.ts';

const PASSWORD = 'canary-redis-password';

let world: OperatorWorld;
let redis: RedisServer;
let settings: Record<string, string>;
let envFile: string;

beforeAll(async () => {
  [world, redis] = await Promise.all([startOperatorWorld(), startRedis({ password: PASSWORD })]);
  const { admin, kekFile, managementKekFile, room, issuer, baseUrl } = world;
  await Promise.all([
    admin.get('migrate'),
    admin.get('kek', 'generate', 'signer', '--out', kekFile),
    admin.get('kek', 'generate', 'management', '--out', managementKekFile),
  ]);
  const workshop = { name: 'Workshop', programme: true, interns: [{ name: 'charles', signing_key: true }] };
  await admin.apply({ name: 'Analytical Engines', workspaces: [workshop] });
  settings = {
    SIGNER_DATABASE_URL: await world.createLogin('ori_signer'),
    SIGNER_REDIS_URL: redis.url,
    SIGNER_ISSUER: issuer.url,
    SIGNER_BASE_URL: baseUrl,
    SIGNER_KEK_FILE: kekFile,
    SIGNER_AUDIT_FILE: join(room.directory, 'audit.log'),
    MANAGEMENT_ISSUER: issuer.url,
    MANAGEMENT_BASE_URL: baseUrl,
    MANAGEMENT_DATABASE_URL: await world.createLogin('ori_management'),
  };
  envFile = join(room.directory, 'services.env');
  await writeFile(
    envFile,
    Object.entries(settings)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  );
}, 60_000);
afterAll(async () => {
  await redis?.[Symbol.asyncDispose]();
  await world?.[Symbol.asyncDispose]();
});

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly found: string;
  readonly fix?: string;
}

/** The findings that are not ok, by check, and the exit code. */
async function doctor(environment: Record<string, string> = {}, args: string[] = [], stdin = '') {
  const run = await world.admin.run(['doctor', '--json', '--settings', envFile, ...args], {
    environment,
    stdin,
  });
  const { data } = JSON.parse(run.stdout) as { data: Finding[] };
  const wrong = data.filter(({ state }) => state === 'failing');
  return { exit: run.exit, all: data, wrong: Object.fromEntries(wrong.map((one) => [one.check, one])) };
}

it('finds nothing wrong with a deployment that works, and says what to do in each other line', async () => {
  const { exit, all, wrong } = await doctor();
  expect(wrong).toEqual({});
  expect(exit).toBe(0);
  expect(all.filter(({ state, fix }) => (state === 'ok' ? fix !== undefined : !fix))).toEqual([]);
  expect(all.map(({ check }) => check)).toEqual(
    expect.arrayContaining([
      'database',
      'signer login',
      'management login',
      'signer ring',
      'management ring',
    ]),
  );
  const told = await world.admin.run(['doctor', '--settings', envFile]);
  expect(told.stdout).toContain('ok    redis: answers, evicts nothing, and has the same time\n');
});

it('does not judge a setting that a service may read otherwise', async () => {
  const file = join(world.room.directory, 'commented.env');
  await writeFile(file, '# quoted: the same everywhere\nSIGNER_A="b#c"\nSIGNER_B=c # d\n');
  const { exit, stderr } = await world.admin.run(['doctor', '--settings', file]);
  expect([exit, stderr]).toEqual([2, expect.stringContaining('line 3: systemd takes the #')]);
});

it('says what unbound sessions leave open, and that an issuer without DPoP cannot bind them', async () => {
  const { issuer } = world;
  const [signer, management] = ['signer', 'management'].map((name) => `${name} issuer ${issuer.url}`);
  issuer.announce({ dpop_signing_alg_values_supported: ['ES256'] });
  const open = await doctor({ MANAGEMENT_REQUIRE_DPOP: 'true' });
  const found = (check: string | undefined) => open.all.find((one) => one.check === check)?.found;
  expect(found(signer)).toContain('but SIGNER_REQUIRE_DPOP=false leaves');
  expect(found(management)).toContain('must be bound');
  issuer.announce({});
  const { wrong } = await doctor({ MANAGEMENT_REQUIRE_DPOP: 'true' });
  expect(Object.keys(wrong)).toContain(management);
  expect(Object.keys(wrong)).not.toContain(signer);
});

it('names the cause of each dependency that a service would not start with', async () => {
  const { exit, wrong } = await doctor({
    SIGNER_DATABASE_URL: world.databaseUrl,
    SIGNER_REDIS_URL: redis.url.replace(PASSWORD, 'canary-wrong'),
    SIGNER_ISSUER: `${world.issuer.url}/`,
    SIGNER_AUDIT_FILE: '/nowhere/audit.log',
    MANAGEMENT_ISSUER: `${world.issuer.url}/other`,
    MANAGEMENT_DATABASE_URL: 'postgres://login:canary-password@db:port/ori',
  });
  expect(exit).toBe(4);
  expect(wrong).toMatchObject({
    'signer login': { fix: expect.stringContaining('CREATE ROLE signer') },
    'management login': { found: expect.stringContaining('MANAGEMENT_DATABASE_URL: expected postgres://') },
    redis: { found: 'the user name or the password for Redis is wrong' },
    [`management issuer ${world.issuer.url}/other`]: { state: 'failing' },
    [`signer issuer ${world.issuer.url}/`]: { found: expect.stringContaining('set exactly that') },
    'audit folder': { found: '/nowhere cannot be written (ENOENT)' },
  });
  expect(JSON.stringify(wrong)).not.toContain('canary');
});

it('repeats why a running instance is not ready', async () => {
  const down = async () => {
    throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' });
  };
  const where = { host: '127.0.0.1', port: 0, registry: new Registry() };
  const ops = await startOpsServer({ ...where, checks: { witness: down, kek: async () => {} } });
  const { wrong } = await doctor({}, ['--ops', ops.url, '--ops', world.issuer.url]);
  await ops.stop();
  expect(wrong[ops.url]).toMatchObject({ found: 'witness: nothing listens there' });
  expect(wrong[world.issuer.url]).toMatchObject({ fix: 'give the address of the ops port' });
});

it('finds a Redis that evicts', async () => {
  await using evicting = await startRedis({ arguments: ['--maxmemory-policy', 'volatile-lru'] });
  const { wrong } = await doctor({ SIGNER_REDIS_URL: evicting.url });
  expect(wrong['redis']).toMatchObject({ fix: expect.stringContaining('noeviction') });
});

it('finds rows that the ring does not open, and a database behind this version', async () => {
  const other = join(world.room.directory, 'other.json');
  await world.admin.get('kek', 'generate', 'signer', '--out', other);
  await world.query("COMMENT ON TABLE ori_migrations IS '0000-before'");
  const { wrong } = await doctor({ SIGNER_KEK_FILE: other });
  expect(wrong).toMatchObject({
    'signer ring': { found: expect.stringContaining('1 rows are sealed under') },
    database: { fix: 'run ori-admin migrate' },
  });
  await world.admin.get('migrate');
});

it('fails where the issuer cannot be asked about opaque tokens, and says why', async () => {
  const { issuer } = world;
  const { id, secret } = issuer.introspectionClient;
  const asked = (clientSecret: string) =>
    doctor({ SIGNER_INTROSPECTION_CLIENT_ID: id, SIGNER_INTROSPECTION_CLIENT_SECRET: clientSecret });
  const check = `signer issuer ${issuer.url}: introspection`;
  const right = await asked(secret);
  expect(right.wrong).toEqual({});
  expect(right.all.find((one) => one.check === check)?.found).toContain('it answers about tokens');
  const wrong = await asked('another');
  expect(wrong.wrong[check]).toMatchObject({ found: expect.stringContaining('401 invalid_client') });
  issuer.announce({ introspection_endpoint: undefined });
  const unnamed = await asked(secret);
  issuer.announce({});
  expect(unnamed.wrong[check]).toMatchObject({ found: expect.stringContaining('introspection.endpoint') });
});

it('says for which claim a token is refused', async () => {
  const { issuer } = world;
  const good = await doctor({}, ['--token'], await issuer.token());
  expect(good.wrong).toEqual({});
  const foreign = await doctor({}, ['--token'], await issuer.token({ claims: { aud: 'https://elsewhere' } }));
  expect(foreign.wrong['token']).toMatchObject({ found: expect.stringContaining('aud') });
  const powerless = await doctor({}, ['--token'], await issuer.token({ scope: 'interns' }));
  expect(powerless.wrong['token']).toMatchObject({ found: expect.stringContaining('vault:read') });
});

it('tells of keys for calls and answers that a root does not vouch for', async () => {
  const check = 'statements of keys';
  await world.query(`UPDATE signing_keys SET statement = '${'A'.repeat(86)}=='`);
  expect((await doctor()).all.find((one) => one.check === check)?.found).toContain('1 keys, each stated');
  await world.query(`UPDATE interns SET answer_keys = '[{"x":"${'A'.repeat(43)}"}]'`);
  expect((await doctor()).wrong).toEqual({
    [check]: expect.objectContaining({ found: expect.stringContaining('1 of 2 keys') }),
  });
  await world.query('UPDATE interns SET answer_keys = NULL');
  await world.query('UPDATE signing_keys SET statement = NULL');
  expect((await doctor()).all.find((one) => one.check === check)?.found).toBe('1 keys, and no root');
});
