import { type Kysely, sql } from 'kysely';
import type { StoreRole } from '../privileges/grant.ts';
import { GRANTS_AS_OF, type RoleGrants, type TableGrant } from '../privileges/grant.ts';
import { GRANTS } from '../privileges/grants.ts';
import type { Schema } from '../schema.ts';

/**
 * Makes the privileges of each role exactly {@link GRANTS}, whatever they were before, for example after a restore that
 * lost them. A comment says since which migration, so that an older service does not refuse what its role was granted
 * later.
 */
export async function applyGrants(db: Kysely<Schema>): Promise<void> {
  await sql`comment on table ori_migrations is ${sql.lit(GRANTS_AS_OF)}`.execute(db);
  await sql`revoke create on schema public from public`.execute(db);
  for (const { role, tables } of await existing(db)) {
    await sql`revoke all on all tables in schema public from ${sql.id(role)}`.execute(db);
    await sql`grant usage on schema public to ${sql.id(role)}`.execute(db);
    for (const [table, grant] of Object.entries(tables)) {
      const privileges = sql.join(privilegesOf(grant));
      await sql`grant ${privileges} on ${sql.table(table)} to ${sql.id(role)}`.execute(db);
    }
    if (role === 'ori_operator') await showAllRows(db, role);
  }
}

async function existing(db: Kysely<Schema>): Promise<RoleGrants[]> {
  const names = sql.join(GRANTS.map(({ role }) => role));
  const { rows } = await sql<{ name: string }>`
    select rolname as name from pg_roles where rolname in (${names})`.execute(db);
  return GRANTS.filter(({ role }) => rows.some(({ name }) => name === role));
}

/** Under row-level security, a role other than the owner sees only the rows that a policy shows. */
async function showAllRows(db: Kysely<Schema>, role: StoreRole): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relrowsecurity
      and not exists (select 1 from pg_policy p where p.polrelid = c.oid and p.polname = ${role})`.execute(
    db,
  );
  for (const { name } of rows) {
    await sql`create policy ${sql.id(role)} on ${sql.table(name)} to ${sql.id(role)} using (true) with check (true)`.execute(
      db,
    );
  }
}

function privilegesOf({ select, update, insert, delete: remove }: TableGrant) {
  const on = (privilege: string, columns: true | readonly string[]) =>
    columns === true
      ? sql.raw(privilege)
      : sql`${sql.raw(privilege)} (${sql.join(columns.map((column) => sql.id(column)))})`;
  return [
    on('select', select),
    ...(update === undefined ? [] : [on('update', update)]),
    ...(insert ? [sql.raw('insert')] : []),
    ...(remove ? [sql.raw('delete')] : []),
  ];
}
