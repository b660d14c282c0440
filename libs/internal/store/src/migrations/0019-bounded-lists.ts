import { type Kysely, sql } from 'kysely';

/**
 * The current members of each workspace are counted as they change, as guardrails are (migration 0013), and the answers
 * that an account's idempotency keys keep are summed, so that their total can be limited.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table workspace_tallies add column members bigint not null default 0`.execute(db);
  // A membership of a workspace that is being deleted adds nothing: its tally is deleted too.
  await sql`
    create function ori_tally_members(ids text[], counts bigint[]) returns void language sql security definer
    set search_path = public, pg_temp as $$
      insert into workspace_tallies as t (workspace_id, organization_id, members)
      select w.id, w.organization_id, d.n
      from unnest(ids, counts) as d (id, n) join workspaces w on w.id = d.id
      order by w.id
      on conflict (workspace_id) do update set members = t.members + excluded.members
    $$`.execute(db);
  await sql`revoke execute on function ori_tally_members(text[], bigint[]) from public`.execute(db);
  const added = 'select workspace_id, removed_at, 1 as n from fresh';
  const removed = 'select workspace_id, removed_at, -1 as n from former';
  for (const [operation, rows, changed] of [
    ['insert', 'new table as fresh', added],
    ['update', 'old table as former new table as fresh', `${added} union all ${removed}`],
    ['delete', 'old table as former', removed],
  ] as const) {
    const name = sql.id(`ori_tally_member_${operation}`);
    await sql`
      create function ${name}() returns trigger language plpgsql security definer
      set search_path = public, pg_temp as $$
        declare
          ids text[];
          counts bigint[];
        begin
          select array_agg(id), array_agg(n) into ids, counts
          from (
            select workspace_id as id, sum(n) as n from (${sql.raw(changed)}) as c
            where removed_at is null group by workspace_id
          ) as d where n <> 0;
          if ids is not null then perform ori_tally_members(ids, counts); end if;
          return null;
        end
      $$`.execute(db);
    await sql`revoke execute on function ${name}() from public`.execute(db);
    await sql`
      create trigger ${name} after ${sql.raw(operation)} on members
      referencing ${sql.raw(rows)} for each statement execute function ${name}()`.execute(db);
  }
  // Creating the triggers locked the table, so nothing changes between this and the commit.
  await sql`
    select ori_tally_members(array_agg(id), array_agg(n))
    from (select workspace_id as id, count(*) as n from members where removed_at is null group by 1) as d
    having count(*) > 0`.execute(db);

  await sql`
    create table idempotency_tallies (
      organization_id text primary key references organizations (id) on delete cascade,
      bytes bigint not null
    )`.execute(db);
  await sql`
    insert into idempotency_tallies
    select organization_id, sum(octet_length(sealed_answer)) from idempotency_keys group by 1`.execute(db);
  await sql`alter table idempotency_tallies enable row level security`.execute(db);
  await sql`
    create policy idempotency_tallies_of_tenant on idempotency_tallies to ori_management
    using (organization_id = current_setting('ori.organization_id', true))
    with check (organization_id = current_setting('ori.organization_id', true))`.execute(db);
}
