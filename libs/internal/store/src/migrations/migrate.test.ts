import type { Statements } from '@ori/postgres/statements';
import { createDatabase, startPostgres } from '@ori/test-env/postgres';
import { CompiledQuery, sql, type Transaction } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../database.ts';
import { openPostgres } from '../open-postgres.ts';
import { excessPrivileges } from '../privileges/excess-privileges.ts';
import { readPrivileges } from '../privileges/read-privileges.ts';
import { SIGNER } from '../privileges/signer.ts';
import type { Schema } from '../schema.ts';
import { MIGRATIONS } from './all.ts';
import { migrate } from './migrate.ts';

const ALL = Object.keys(MIGRATIONS);
const refused = (code: string) => ({ name: 'MigrationError', code });

/** An empty database, and further connections to it. */
async function emptyDatabase() {
  const stack = new AsyncDisposableStack();
  const { url } = stack.use(await createDatabase({ migrated: false }));
  const open = () =>
    stack.adopt<Database>(openPostgres({ url, poolMax: 2, statementTimeoutMs: 0 }), (db) => db.close());
  return { db: open(), open, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const statementsIn = (tx: Transaction<Schema>): Statements => ({
  async query<Row>(text: string) {
    return (await tx.executeQuery<Row>(CompiledQuery.raw(text))).rows;
  },
});

async function relations({ kysely }: Database): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace order by relname`.execute(
    kysely,
  );
  return rows.map((row) => row.name);
}

describe('migrate', () => {
  it('brings an empty database to this version, once for several processes, and does nothing the next time', async () => {
    await using _roles = await createDatabase(); // without them, creating the roles would serialize all of them
    await using empty = await emptyDatabase();
    const lines: string[] = [];
    const log = (line: string) => void lines.push(line);
    const results = await Promise.all([1, 2, 3].map(() => migrate(empty.open(), { log })));
    expect(results.flatMap((result) => result.applied)).toEqual(ALL);
    expect(lines).toEqual(ALL.map((name) => `applied ${name}`));
    const before = await relations(empty.db);
    expect(await migrate(empty.db)).toEqual({ applied: [] });
    expect(await relations(empty.db)).toEqual(before);
  });

  it('has the server end the connection of a silent client after a minute, whoever logs in', async () => {
    await using empty = await emptyDatabase();
    const after = async () => {
      const { rows } = await sql<{ name: string; setting: string }>`
        select name, setting from pg_settings where name like 'tcp_keepalives_%'`.execute(
        empty.open().kysely,
      );
      const of = (what: string) =>
        Number(rows.find(({ name }) => name === `tcp_keepalives_${what}`)?.setting);
      return of('idle') + of('interval') * of('count');
    };
    expect(await after()).toBeGreaterThan(7000);
    await migrate(empty.db);
    expect(await after()).toBe(60);
  });

  it('refuses a database with foreign tables or views, and leaves it unchanged', async () => {
    await using foreign = await emptyDatabase();
    for (const [make, drop] of [
      ['create table theirs (id int)', 'drop table theirs'],
      ['create schema app; create table app.theirs (id int)', 'drop schema app cascade'],
      ['create view theirs as select 1', 'drop view theirs'],
      ['create table kysely_migration (name text, "timestamp" text)', 'drop table kysely_migration'],
    ] as const) {
      for (const statement of make.split(';')) await sql.raw(statement).execute(foreign.db.kysely);
      const before = await relations(foreign.db);
      await expect(migrate(foreign.db), make).rejects.toMatchObject(refused('database_not_ours'));
      expect(await relations(foreign.db)).toEqual(before);
      await sql.raw(drop).execute(foreign.db.kysely);
    }
    expect((await migrate(foreign.db)).applied).toEqual(ALL);
  });

  it('is atomic: a failure at the end leaves the database empty', async () => {
    await using empty = await emptyDatabase();
    // Makes the last statement of the run fail.
    await sql`create function public.fail() returns event_trigger language plpgsql as
      $$ begin if tg_tag = 'REVOKE' then raise exception 'no'; end if; end $$`.execute(empty.db.kysely);
    await sql`create event trigger fail on ddl_command_end execute function public.fail()`.execute(
      empty.db.kysely,
    );
    await expect(migrate(empty.db)).rejects.toMatchObject({
      ...refused('migration_failed'),
      message: 'migration 0001-schema failed',
      cause: { message: 'no' },
    });
    expect(await relations(empty.db)).toEqual([]);
  });

  it('waits five seconds for a lock, then fails and changes nothing', async () => {
    await using own = await emptyDatabase();
    await migrate(own.db);
    await sql`drop policy ori_operator on interns`.execute(own.db.kysely);
    // Where it would wait five seconds, this test does not.
    await sql`create function public.hurry() returns event_trigger language plpgsql as $$ begin
      if current_setting('lock_timeout') not in ('5s', '1ms') then raise exception 'no'; end if;
      set local lock_timeout = '1ms'; end $$`.execute(own.db.kysely);
    await sql`create event trigger hurry on ddl_command_start execute function public.hurry()`.execute(
      own.db.kysely,
    );
    await own.open().transaction(async (tx) => {
      await sql`select from interns`.execute(tx);
      await expect(migrate(own.db)).rejects.toMatchObject({ code: 'contended' });
    });
  });

  it('restores missing grants of a migrated database, and revokes what its copy or its server granted since', async () => {
    await using own = await emptyDatabase();
    const { db } = own;
    await migrate(db);
    const asSigner = <T>(ask: (tx: Transaction<Schema>) => Promise<T>) =>
      db.kysely.transaction().execute(async (tx) => {
        await sql`set local role ori_signer`.execute(tx);
        return await ask(tx);
      });
    const privileges = () => asSigner((tx) => readPrivileges(statementsIn(tx)));
    const before = await privileges();
    expect(before).toMatchObject({ role: 'ori_signer', mayCreateTemporaryTables: false });
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db.kysely);
    await sql`grant temporary on database ${sql.id(rows[0]?.name ?? '')} to public`.execute(db.kysely);
    await sql`revoke all on all tables in schema public from ori_signer`.execute(db.kysely);
    await sql`grant update on signing_keys to ori_signer`.execute(db.kysely);
    await migrate(db);
    expect(await privileges()).toEqual(before);
    // As a superuser it revokes the right to create large objects from every role.
    for (const call of ['lo_creat(-1)', 'lo_create(0)', "lo_from_bytea(0, 'x')"])
      await expect(
        asSigner((tx) => sql`select ${sql.raw(call)}`.execute(tx)),
        call,
      ).rejects.toMatchObject({ code: '42501' });
    await sql`insert into ori_migrations (name, timestamp) values ('9999-later', '2030-01-01T00:00:00Z')`.execute(
      db.kysely,
    );
    await expect(migrate(db)).rejects.toMatchObject(refused('database_newer'));
  });
});

describe('migrate on a new server', () => {
  it('refuses a role of the same name with more rights, else creates the roles once for several databases at the same moment', async () => {
    await using server = await startPostgres();
    const databases = await Promise.all([1, 2, 3, 4].map(() => createDatabase({ migrated: false, server })));
    const opened = databases.map(({ url }) => openPostgres({ url, poolMax: 1, statementTimeoutMs: 0 }));
    try {
      const [first] = opened as [Database, ...Database[]];
      await sql`create role ori_signer nologin createrole`.execute(first.kysely);
      await expect(migrate(first)).rejects.toMatchObject(refused('role_unsafe'));
      await sql`drop role ori_signer`.execute(first.kysely);
      const results = await Promise.all(opened.map((db) => migrate(db)));
      expect(results.map((result) => result.applied)).toEqual([ALL, ALL, ALL, ALL]);
    } finally {
      await Promise.all(opened.map((db) => db.close()));
    }
  });

  it('refuses a database that cannot represent every name', async () => {
    await using database = await createDatabase({ migrated: false });
    const admin = openPostgres({ url: database.url, poolMax: 1 });
    const name = sql.id(`${database.name}_latin`);
    await sql`create database ${name} encoding 'LATIN1' locale 'C' template template0`.execute(admin.kysely);
    const latin = openPostgres({ url: `${database.url}_latin`, poolMax: 1 });
    await expect(migrate(latin)).rejects.toMatchObject({
      ...refused('database_not_utf8'),
      message: expect.stringContaining('LATIN1'),
    });
    await latin.close();
    await sql`drop database ${name} with (force)`.execute(admin.kysely);
    await admin.close();
  });

  it('can be run by a database owner without superuser rights, which can then act as the roles', async () => {
    await using server = await startPostgres();
    await using database = await createDatabase({ migrated: false, server });
    const admin = openPostgres({ url: database.url, poolMax: 1 });
    await sql`create role landlord login createrole password 'x'`.execute(admin.kysely);
    await sql`alter database ${sql.id(database.name)} owner to landlord`.execute(admin.kysely);
    const url = new URL(database.url);
    Object.assign(url, { username: 'landlord', password: 'x' });
    const owner = openPostgres({ url: url.href, poolMax: 1 });
    expect(await migrate(owner)).toEqual({ applied: ALL });
    expect(await migrate(owner)).toEqual({ applied: [] });
    const signer = openPostgres({ url: url.href, role: 'ori_signer', poolMax: 1 });
    expect(excessPrivileges(await readPrivileges(signer), SIGNER)).toEqual([
      'the login is landlord, which only switched to ori_signer',
    ]);
    // The tables stay its own; settings of the database are another's to change.
    await sql`alter database ${sql.id(database.name)} owner to current_user`.execute(admin.kysely);
    expect(await migrate(owner)).toEqual({ applied: [] });
    await Promise.all([admin.close(), owner.close(), signer.close()]);
  });
});
