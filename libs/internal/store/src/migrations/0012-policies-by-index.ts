import { type Kysely, sql } from 'kysely';

/**
 * The policies of 0006, so that an index can serve each of them: their cost no longer grows with the rows of other
 * tenants. A scalar subquery is evaluated once per statement. `offset 0` keeps an `exists` correlated; without it the
 * planner may read all visible rows into a hash table.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const organization = `organization_id = current_setting('ori.organization_id', true)`;
  const person = `(select s.user_id from user_subjects s
    where s.issuer = current_setting('ori.issuer', true) and s.subject = current_setting('ori.subject', true))`;

  const visible: Record<string, string> = {
    members: `${organization} or user_id = ${person}`,
    users: `exists (select from members m where m.user_id = users.id offset 0)`,
    workspaces: `${organization}
      or id = (select k.workspace_id from api_keys k where k.hash = current_setting('ori.api_key_hash', true))
      or exists (select from members m where m.workspace_id = workspaces.id and m.user_id = ${person} offset 0)`,
    intern_icons: `exists (select from interns i where i.id = intern_icons.intern_id offset 0)`,
  };
  for (const [table, rows] of Object.entries(visible)) {
    await sql`
      alter policy ${sql.id(`${table}_of_tenant`)} on ${sql.table(table)}
      using (${sql.raw(rows)}) with check (${sql.raw(rows)})`.execute(db);
  }
}
