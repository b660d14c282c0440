import { createDatabase } from '@ori/test-env/postgres';
import { sql } from 'kysely';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import type { Database } from '../database.ts';
import { openPglite } from '../pglite/open-pglite.ts';
import { openPostgres } from '../postgres/open-postgres.ts';
import { MIGRATIONS } from './all.ts';
import { INDEXES } from './indexes.ts';
import { migrate } from './migrate.ts';
import { ensureRoles } from './roles.ts';

/** Released before indexes could be built concurrently. */
const RELEASED = ['0007-interns-by-status', '0008-signing-keys-by-expiry'];

it('no migration creates an index on an existing table', async () => {
  const db = await openPglite();
  try {
    const indexes = async () => {
      const { rows } = await sql<{ name: string; table: string }>`
        select i.indexrelid::regclass::text as name, i.indrelid::regclass::text as table from pg_index i
        join pg_class c on c.oid = i.indrelid where c.relnamespace = 'public'::regnamespace`.execute(
        db.kysely,
      );
      return new Map(rows.map(({ name, table }) => [name, table]));
    };
    const tables = async () => new Set((await db.kysely.introspection.getTables()).map(({ name }) => name));
    await db.kysely.transaction().execute((tx) => ensureRoles(tx));
    for (const [name, migration] of Object.entries(MIGRATIONS)) {
      const [tablesBefore, indexesBefore] = [await tables(), await indexes()];
      await migration.up(db.kysely);
      const created = [...(await indexes())].filter(
        ([index, table]) => !indexesBefore.has(index) && tablesBefore.has(table),
      );
      if (RELEASED.includes(name)) continue;
      expect(created, `${name} would block writes. Add the index to INDEXES instead.`).toEqual([]);
    }
  } finally {
    await db.close();
  }
});

it('migrate builds missing and invalid indexes, and leaves the others alone', async () => {
  await using world = await migratedDatabase();
  const [name = ''] = Object.keys(INDEXES);
  const former = await indexState(world.db, name);
  expect(former).toMatchObject({ valid: true });
  await migrate(world.db);
  expect(await indexState(world.db, name)).toEqual(former);
  await sql`update pg_index set indisvalid = false where indexrelid = ${name}::regclass`.execute(
    world.db.kysely,
  );
  const lines: string[] = [];
  await migrate(world.db, { log: (line) => lines.push(line) });
  expect(lines).toEqual([`built the index ${name}`]);
  expect(await indexState(world.db, name)).toMatchObject({ valid: true });
});

it('writes go on while an index is built, and a build that was interrupted is repeated', async () => {
  await using world = await migratedDatabase();
  const [name = '', on = ''] = Object.entries(INDEXES)[0] ?? [];
  const table = on.split(' ')[0] ?? '';
  await sql`drop index ${sql.id(name)}`.execute(world.db.kysely);
  // The build waits for this older transaction.
  await using older = await world.connect();
  await older.client.query(`begin isolation level repeatable read; delete from ${table} where false`);
  const killed = openPostgres({ url: world.url, poolMax: 2, statementTimeoutMs: 0 });
  const build = migrate(killed).then(
    () => 'built',
    () => 'interrupted',
  );
  const sessionsThat = async (query: string) => {
    const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and query like ${`%${query}%`}`.execute(
      world.db.kysely,
    );
    return rows.map(({ pid }) => pid);
  };
  await expect.poll(() => sessionsThat('create index concurrently')).toHaveLength(1);
  await using writer = await world.connect();
  await writer.client.query(`set lock_timeout = '2s'; delete from ${table} where false`);
  // A second run waits for the first, and is not what the first waits for.
  const second = migrate(world.db);
  await expect.poll(() => sessionsThat('select pg_try_advisory_lock')).toHaveLength(1);
  const [builder] = await sessionsThat('create index concurrently');
  await sql`select pg_terminate_backend(${builder})`.execute(world.db.kysely);
  expect(await build).toBe('interrupted');
  await killed.close();
  await older.client.query('rollback');
  await second;
  expect(await indexState(world.db, name)).toMatchObject({ valid: true });
});

async function indexState({ kysely }: Database, name: string) {
  const { rows } = await sql<{ oid: number; valid: boolean }>`
    select indexrelid::int8 as oid, indisvalid as valid from pg_index where indexrelid = to_regclass(${name})`.execute(
    kysely,
  );
  return rows[0];
}

async function migratedDatabase() {
  await using stack = new AsyncDisposableStack();
  const { url } = stack.use(await createDatabase());
  const db = stack.adopt<Database>(openPostgres({ url, poolMax: 3, statementTimeoutMs: 0 }), (opened) =>
    opened.close(),
  );
  const owned = stack.move();
  return {
    db,
    url,
    async connect() {
      const client = new Client({ connectionString: url });
      await client.connect();
      return { client, [Symbol.asyncDispose]: () => client.end() };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
