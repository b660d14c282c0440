import { StoreUnavailable } from '@ori/postgres/store-unavailable';
import { createDatabase } from '@ori/test-env/postgres';
import { sql } from 'kysely';
import pg from 'pg';
import { afterAll, expect, it, vi } from 'vitest';
import type { Database } from '../database.ts';
import { MIGRATIONS } from '../migrations/all.ts';
import { migrate } from '../migrations/migrate.ts';
import { openPostgres } from '../open-postgres.ts';
import { GRANTS_AS_OF } from './grant.ts';
import { createLoginCheck, OverprivilegedLogin, overprivilegedLogin } from './overprivileged-login.ts';
import { SIGNER } from './signer.ts';

const database = await createDatabase();
const owner = openPostgres({ url: database.url, poolMax: 2 });
afterAll(async () => {
  await owner.close();
  await database[Symbol.asyncDispose]();
});
await migrate(owner);

let count = 0;

/** A login that is a member of `ori_signer`, and what `extra` adds to that. */
async function createLogin(extra: (login: string) => string): Promise<{ login: string; url: string }> {
  count += 1;
  const login = `${database.name}_login_${count}`;
  await sql.raw(`CREATE ROLE ${login} LOGIN PASSWORD 'p' IN ROLE ori_signer`).execute(owner.kysely);
  await sql.raw(extra(login)).execute(owner.kysely);
  const url = new URL(database.url);
  Object.assign(url, { username: login, password: 'p' });
  return { login, url: url.href };
}

async function ask(url: string): Promise<unknown> {
  const db: Database = openPostgres({ url, check: createLoginCheck(SIGNER), poolMax: 1 });
  try {
    return await sql`select enabled from switches`.execute(db.kysely);
  } catch (error) {
    return error;
  } finally {
    await db.close();
  }
}

it('a connection to a standby is refused, even if the login was accepted on the primary', async () => {
  const check = createLoginCheck(SIGNER);
  const client = new pg.Client({ connectionString: database.signerUrl });
  await client.connect();
  try {
    await check(client);
    // Answers like a standby: the address now leads to another server.
    const onStandby = Object.assign(Object.create(client) as pg.Client, {
      query: async () => ({ rows: [{ standby: true }] }),
    });
    await expect(check(onStandby)).rejects.toMatchObject({ name: 'StoreUnavailable', code: 'standby' });
  } finally {
    await client.end();
  }
});

it('what a login is granted later is found within a minute, on a connection that is open', async () => {
  const { login, url } = await createLogin(() => 'SELECT 1');
  const db = openPostgres({ url, check: createLoginCheck(SIGNER), poolMax: 1 });
  const read = () => sql`select enabled from switches`.execute(db.kysely);
  const now = performance.now.bind(performance);
  let aheadMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
  try {
    await read();
    await sql.raw(`GRANT SELECT ON users TO ${login}`).execute(owner.kysely);
    aheadMs = 30_000;
    await read();
    aheadMs = 65_000;
    await expect(read()).rejects.toBeInstanceOf(OverprivilegedLogin);
  } finally {
    clock.mockRestore();
    await db.close();
  }
});

it('a login that is only a member of its role is accepted', async () => {
  expect(await ask(database.signerUrl)).toMatchObject({ rows: [{ enabled: true }] });
});

it.each<[string, string, (login: string) => string]>([
  ['SELECT on a table', 'may read users.created_at', (who) => `GRANT SELECT ON users TO ${who}`],
  ['SELECT on a column', 'may read users.name', (who) => `GRANT SELECT (name) ON users TO ${who}`],
  ['SELECT for everyone', 'may read guardrails.', () => 'GRANT SELECT ON guardrails TO PUBLIC'],
  ['INSERT', 'may write interns', (who) => `GRANT INSERT ON interns TO ${who}`],
  ['UPDATE of a column', 'may write signing_keys', (who) => `GRANT UPDATE (kid) ON signing_keys TO ${who}`],
  ['CREATE in the schema', 'may create tables', (who) => `GRANT CREATE ON SCHEMA public TO ${who}`],
  [
    'CREATE in the database',
    'may create schemas',
    (who) => `GRANT CREATE ON DATABASE ${database.name} TO ${who}`,
  ],
  [
    'TEMPORARY',
    'may create temporary tables',
    () => `GRANT TEMPORARY ON DATABASE ${database.name} TO PUBLIC`,
  ],
  ['the role of management', 'is a member of ori_management', (who) => `GRANT ori_management TO ${who}`],
  [
    'a role of the server',
    'is a member of pg_read_server_files',
    (who) => `GRANT pg_read_server_files TO ${who}`,
  ],
  [
    'a group that may read more',
    'may read users.created_at',
    (who) => `CREATE ROLE ${who}_team; GRANT SELECT ON users TO ${who}_team; GRANT ${who}_team TO ${who}`,
  ],
  ['SELECT through its own group', 'may read users.created_at', () => 'GRANT SELECT ON users TO ori_signer'],
  ['INSERT through its own group', 'may write users', () => 'GRANT INSERT ON users TO ori_signer'],
  ['CREATE through its own group', 'may create tables', () => 'GRANT CREATE ON SCHEMA public TO ori_signer'],
])(
  'a login with %s beyond its role is refused, and what the message says fixes it',
  async (_what, words, extra) => {
    const { login, url } = await createLogin(extra);
    const refusal = await ask(url);
    expect(refusal).toBeInstanceOf(OverprivilegedLogin);
    const { excess, fix } = refusal as OverprivilegedLogin;
    expect(excess.join('\n')).toContain(`${login} ${words}`);
    for (const line of fix) {
      if (line.startsWith('ori-admin migrate ')) await migrate(owner);
      else await sql.raw(line).execute(owner.kysely);
    }
    expect(await ask(url)).toMatchObject({ rows: [{ enabled: true }] });
  },
);

it('a login whose group is a member of another is refused, and the SQL in the message fixes it', async () => {
  const { login } = await createLogin(() => 'SELECT 1');
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const checkLogin = async () => {
    await client.query(`SET SESSION AUTHORIZATION ${login}`);
    const verdict: unknown = await createLoginCheck(SIGNER)(client).catch((error) => error);
    await client.query('RESET SESSION AUTHORIZATION');
    return verdict;
  };
  try {
    // Never committed: all databases of the server have the same groups.
    await client.query(`BEGIN; CREATE ROLE ${login}_club; GRANT ${login}_club TO ori_signer`);
    const { excess, fix } = (await checkLogin()) as OverprivilegedLogin;
    expect(excess).toEqual([`${login} is a member of ${login}_club`]);
    for (const statement of fix) await client.query(statement);
    expect(await checkLogin()).toBeUndefined();
  } finally {
    await client.end();
  }
});

it.each<[string, string, (login: string) => string]>([
  ['SUPERUSER', 'has the attribute SUPERUSER', (who) => `ALTER ROLE ${who} SUPERUSER`],
  ['BYPASSRLS', 'has the attribute BYPASSRLS', (who) => `ALTER ROLE ${who} BYPASSRLS`],
  ['CREATEROLE', 'has the attribute CREATEROLE', (who) => `ALTER ROLE ${who} CREATEROLE`],
  ['CREATEDB', 'has the attribute CREATEDB', (who) => `ALTER ROLE ${who} CREATEDB`],
  ['REPLICATION', 'has the attribute REPLICATION', (who) => `ALTER ROLE ${who} REPLICATION`],
  ['a table of its own', 'owns switches', (who) => `ALTER TABLE switches OWNER TO ${who}`],
])('a login with %s is refused, with the advice to use another login', async (_what, words, extra) => {
  const { login, url } = await createLogin(extra);
  const refusal = await ask(url);
  expect(refusal).toBeInstanceOf(OverprivilegedLogin);
  const { excess, fix } = refusal as OverprivilegedLogin;
  expect(excess.join('\n')).toContain(`${login} ${words}`);
  expect(fix[0]).toBe("CREATE ROLE signer LOGIN PASSWORD '…' IN ROLE ori_signer;");
});

it('of a newer schema, a service accepts what its role was granted, and still refuses what its login was', async () => {
  const run = (statement: string) => sql.raw(statement).execute(owner.kysely);
  await run('ALTER TABLE users ADD COLUMN newer text');
  await run('GRANT SELECT (newer) ON users TO ori_signer');
  const { login, url } = await createLogin((who) => `GRANT SELECT (name) ON users TO ${who}`);
  try {
    expect((await ask(database.signerUrl)) as OverprivilegedLogin).toBeInstanceOf(OverprivilegedLogin);
    await run("COMMENT ON TABLE ori_migrations IS '9999-newer'");
    expect(await ask(database.signerUrl)).toMatchObject({ rows: [{ enabled: true }] });
    expect(((await ask(url)) as OverprivilegedLogin).excess).toEqual([`${login} may read users.name`]);
  } finally {
    await run('ALTER TABLE users DROP COLUMN newer');
    await migrate(owner);
  }
});

it('a database older than this version is not used until it is migrated', async () => {
  await sql.raw("COMMENT ON TABLE ori_migrations IS '0000-older'").execute(owner.kysely);
  const outdated = { name: 'StoreUnavailable', code: 'outdated' };
  try {
    expect(await ask(database.signerUrl)).toMatchObject(outdated);
    expect(await ask(database.managementUrl)).toMatchObject(outdated);
  } finally {
    await migrate(owner);
  }
  expect(await ask(database.signerUrl)).toMatchObject({ rows: [{ enabled: true }] });
});

it('knows which grants are newer: every migration is counted', () => {
  expect(GRANTS_AS_OF).toBe(Object.keys(MIGRATIONS).at(-1));
});

it('the message names the variable, the excess privileges and the SQL that revokes them', async () => {
  const { login, url } = await createLogin((who) => `GRANT SELECT ON users TO ${who}`);
  const refusal = (await ask(url)) as OverprivilegedLogin;
  expect(refusal.problems('SIGNER_DATABASE_URL')).toEqual([
    'SIGNER_DATABASE_URL: this login may do more than the service needs',
    `  ${login} may read users.created_at, users.email, users.name`,
    'fix it with',
    `  REVOKE ALL ON users FROM ${login}, PUBLIC;`,
  ]);
});

it('a login that switches to its role, and could leave it, is refused', async () => {
  expect(await ask(`${database.url}?options=-crole%3Dori_signer`)).toBeInstanceOf(OverprivilegedLogin);
});

it('no query runs on a connection before its login was checked', async () => {
  const { url } = await createLogin((who) => `GRANT DELETE ON users TO ${who}`);
  const db = openPostgres({ url, check: createLoginCheck(SIGNER), poolMax: 2 });
  const attempts = [1, 2, 3, 4].map(() => sql`delete from users`.execute(db.kysely));
  for (const attempt of await Promise.allSettled(attempts)) {
    expect(attempt).toMatchObject({ status: 'rejected', reason: { code: 'overprivileged' } });
  }
  await db.close();
});

it('a start retries a late server, but not forever', async () => {
  const verdict = new OverprivilegedLogin(['too much'], []);
  const late = new StoreUnavailable('timed_out', 'late');
  const answers = [late, late, verdict];
  expect(await overprivilegedLogin(() => Promise.reject(answers.shift()))).toBe(verdict);
  expect(await overprivilegedLogin(() => Promise.reject(late), 100)).toBeUndefined();
  expect(await overprivilegedLogin(() => Promise.resolve())).toBeUndefined();
});
