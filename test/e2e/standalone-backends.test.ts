import { createHash } from 'node:crypto';
import { Redis } from 'ioredis';
import pg from 'pg';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createDatabase } from '../env/postgres.ts';
import { sharedRedisUrl } from '../env/redis.ts';
import { makeStandaloneHome, type RunningStandalone, type StandaloneHome } from './standalone-process.ts';

const BODY = '{"prompt":"hello"}';

// Each test starts at least one standalone.
vi.setConfig({ testTimeout: 60_000 });

let home: StandaloneHome;
beforeEach(async () => {
  home = await makeStandaloneHome();
  return () => home[Symbol.asyncDispose]();
});

async function sign(
  { state }: RunningStandalone,
  { user = 'ada', internId = state.internId } = {},
): Promise<Response> {
  const { stdout } = await home.token('--user', user);
  const bodySha256 = createHash('sha256').update(BODY).digest('hex');
  return fetch(`${state.baseUrl}/interns/${internId}/daemon/sign`, {
    method: 'POST',
    headers: { authorization: `Bearer ${stdout.trim()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ bodySha256, route: { method: 'POST', path: '/api/invoke' } }),
  });
}

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

it('reserves each nonce in the Redis of ORI_REDIS_URL, and applies limits and regional hosts of the signer', async () => {
  const url = sharedRedisUrl();
  await using database = await createDatabase({ migrated: false });
  await using standalone = await home.start({
    ORI_REDIS_URL: url,
    ORI_DATABASE_URL: database.url,
    SIGNER_TURNS_PER_USER: '3',
    SIGNER_TURN_WINDOW_SECONDS: '3600',
    SIGNER_REGIONAL_HOSTS: 'localhost',
  });
  expect(standalone.lines.join('\n')).toContain('401 nonce_replayed');
  const redis = new Redis(url);
  onTestFinished(() => redis.disconnect());
  const { internId, users, baseUrl, daemonUrl } = standalone.state;
  const proof = (await (await sign(standalone)).json()) as Record<string, string>;
  expect(await redis.exists(`ori:{${internId}}:issued:${proof['x-ori-invoke-nonce']}`)).toBe(1);
  const user = users.find(({ name }) => name === 'ada');
  const tag = createHash('sha256').update(String(user?.userId)).digest('hex');
  expect(await redis.exists(`ori:turns:user:{${tag}}`)).toBe(1);

  const call = (signed: Record<string, string>) => {
    const headers = { ...signed, 'content-type': 'application/json' };
    return fetch(`${daemonUrl}/api/invoke`, { method: 'POST', headers, body: BODY });
  };
  expect((await call(proof)).status).toBe(200);
  expect(await (await call(proof)).json()).toMatchObject({ error: { code: 'nonce_replayed' } });
  const other = (await (await sign(standalone)).json()) as Record<string, string>;
  await redis.del(`ori:{${internId}}:issued:${other['x-ori-invoke-nonce']}`);
  expect(await (await call(other)).json()).toMatchObject({ error: { code: 'nonce_not_issued' } });

  // The first proof at the start used ada's other turn.
  const refused = await sign(standalone);
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ error: { metadata: { reason: 'rate_limited' } } });
  const regional = baseUrl.replace('127.0.0.1', 'localhost');
  const response = await fetch(`${regional}/interns/${internId}/daemon/sign`, { method: 'POST' });
  expect(response.status).toBe(403);
  expect(await response.json()).toMatchObject({ error: { metadata: { reason: 'regional_host_refused' } } });
});

describe('with ORI_DATABASE_URL', () => {
  it('fills an empty database with four organizations, of which one is outside the programme, and starts again on it', async () => {
    await using database = await createDatabase({ migrated: false });
    const env = { ORI_DATABASE_URL: database.url };
    const first = await home.start(env);
    expect((await sign(first)).status).toBe(200);
    expect(await first.stop()).toMatchObject({ exit: 0 });
    await using second = await home.start(env);
    expect(second.state.internId).not.toBe(first.state.internId);
    expect((await sign(second)).status).toBe(200);
    const [row] = await query(database.url, 'select count(*)::int as organizations from organizations');
    expect(row).toEqual({ organizations: 4 });

    const interns = await query(database.url, 'select id, name from interns order by created_at desc');
    const idOf = (name: string) => String(interns.find((intern) => intern['name'] === name)?.['id']);
    expect((await sign(second, { user: 'grace', internId: idOf('flowmatic') })).status).toBe(200);
    const refused = await sign(second, { user: 'alan', internId: idOf('bombe') });
    expect(refused.status).toBe(404);
    await query(database.url, 'update workspaces set in_programme = true');
    const allowed = () => sign(second, { user: 'alan', internId: idOf('bombe') });
    await expect.poll(async () => (await allowed()).status, { interval: 200 }).toBe(200);
  });

  it('refuses a database with other contents, and writes nothing into it', async () => {
    await using database = await createDatabase({ migrated: false });
    await query(database.url, 'create table bookkeeping (entry text)');
    const { exit, stderr } = await home.startRefused({ ORI_DATABASE_URL: database.url });
    expect(exit).toBe(1);
    expect(stderr).toMatch(/not empty/);
    expect(stderr).not.toContain('    at ');
    const tables = await query(database.url, "select tablename from pg_tables where schemaname = 'public'");
    expect(tables).toEqual([{ tablename: 'bookkeeping' }]);
  });

  it('refuses a database of ori whose organizations are not a standalone’s', async () => {
    await using database = await createDatabase();
    await query(database.url, "insert into organizations (id, name) values ('org_real', 'Real')");
    const { exit, stderr } = await home.startRefused({ ORI_DATABASE_URL: database.url });
    expect(exit).toBe(1);
    expect(stderr).toMatch(/^the database contains organizations that no standalone wrote/);
    const [row] = await query(database.url, 'select count(*)::int as users from users');
    expect(row).toEqual({ users: 0 });
  });
});
