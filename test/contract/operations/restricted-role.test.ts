import { excessPrivileges } from '@ori/store/excess-privileges';
import { migrate } from '@ori/store/migrate';
import { openPostgres } from '@ori/store/postgres';
import { readPrivileges } from '@ori/store/privileges';
import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { useSignerWorld } from '../signer-world.ts';

const world = await useSignerWorld({ process: true });
// Privileges on the database itself are not copied from the template of test databases.
await migrate(world.store);
const asSigner = openPostgres({ url: world.environment['SIGNER_DATABASE_URL'] ?? '' });
afterAll(() => asSigner.close());

test('a signer started alone, from its environment only, signs on real Redis and PostgreSQL', async () => {
  expect(world.signer.pid).toBeTypeOf('number');
  expect((await world.sign()).status).toBe(200);
  expect((await world.sign({ bearer: world.issuer.opaqueToken() })).status).toBe(200);
});

test('its login role has no more privileges than the signer needs', async () => {
  expect(excessPrivileges(await readPrivileges(asSigner), 'ori_signer')).toEqual([]);
});

test('SELECT on anything else is denied, and so is every way to write', async () => {
  const { rows } = await sql<{ table: string; column: string }>`
    select table_name as table, column_name as column from information_schema.columns
    where table_schema = 'public' order by 1, 2`.execute(world.store.kysely);
  const { readable } = await readPrivileges(asSigner);
  const others = rows.filter(({ table, column }) => !readable.includes(`${table}.${column}`));
  expect(others.map(({ table, column }) => `${table}.${column}`)).toEqual(
    expect.arrayContaining(['users.name', 'api_keys.label', 'organizations.name', 'interns.instructions']),
  );
  for (const { table, column } of others) {
    const query = sql`select ${sql.ref(column)} from ${sql.table(table)} limit 1`.execute(asSigner.kysely);
    await expect(query, `${table}.${column}`).rejects.toMatchObject({ code: '42501' });
  }
  for (const table of new Set(rows.map((row) => row.table))) {
    for (const statement of [sql`delete from ${sql.table(table)}`, sql`truncate ${sql.table(table)}`]) {
      await expect(statement.execute(asSigner.kysely), table).rejects.toMatchObject({ code: '42501' });
    }
  }
  for (const statement of [sql`create table mine (x int)`, sql`create temporary table mine (x int)`]) {
    await expect(statement.execute(asSigner.kysely)).rejects.toMatchObject({ code: '42501' });
  }
});
