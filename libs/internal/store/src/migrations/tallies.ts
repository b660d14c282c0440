import { TRANSITIONS } from './transitions.ts';

/** Rows of workspaces that are counted one by one: the columns of the tally, and which rows each of them counts. */
const COUNTED = [
  { of: 'member', table: 'members', tallies: { members: 'removed_at is null' } },
  { of: 'key', table: 'api_keys', tallies: { keys: 'true', enabled_keys: 'disabled_at is null' } },
] as const;

const OF_GUARDRAILS = TRANSITIONS.map(
  ({ operation, rows, changed }) => `
create function ori_tally_guardrail_${operation}() returns trigger language plpgsql security definer
set search_path = public, pg_temp as $$
  declare ids uuid[] := (select array_agg(distinct id order by id) from (${changed}) as c);
  begin
    if ids is not null then perform ori_tally_guardrails(ids); end if;
    return null;
  end
$$;
revoke execute on function ori_tally_guardrail_${operation}() from public;
create trigger ori_tally_guardrail_${operation} after ${operation} on guardrails referencing ${rows}
  for each statement execute function ori_tally_guardrail_${operation}();

create function ori_tally_assignment_${operation}() returns trigger language plpgsql security definer
set search_path = public, pg_temp as $$
  declare
    is_key boolean := tg_table_name = 'guardrail_key_assignments';
    ids uuid[];
    counts bigint[];
  begin
    select array_agg(id order by id), array_agg(n order by id) into ids, counts
    from (select guardrail_id as id, sum(n) as n from (${changed}) as c group by guardrail_id) as d
    where n <> 0;
    if ids is not null then
      perform ori_tally_assignments(ids, case when is_key then counts else array_fill(0::bigint, array[cardinality(ids)]) end,
        case when is_key then array_fill(0::bigint, array[cardinality(ids)]) else counts end);
    end if;
    return null;
  end
$$;
revoke execute on function ori_tally_assignment_${operation}() from public;
create trigger ori_tally_assignment_${operation} after ${operation} on guardrail_key_assignments referencing ${rows}
  for each statement execute function ori_tally_assignment_${operation}();
create trigger ori_tally_assignment_${operation} after ${operation} on guardrail_member_assignments referencing ${rows}
  for each statement execute function ori_tally_assignment_${operation}();
`,
);

/** A row of a workspace that is being deleted adds nothing: its tally is deleted too. */
const OF_COUNTED = COUNTED.flatMap(({ of, table, tallies }) => {
  const columns = Object.keys(tallies);
  const counts = Object.entries(tallies).map(
    ([column, which]) => `coalesce(sum(n) filter (where ${which}), 0) as ${column}`,
  );
  return TRANSITIONS.map(
    ({ operation, rows, changed }) => `
create function ori_tally_${of}_${operation}() returns trigger language plpgsql security definer
set search_path = public, pg_temp as $$
  begin
    insert into workspace_tallies as t (workspace_id, organization_id, ${columns.join(', ')})
    select w.id, w.organization_id, ${columns.map((column) => `d.${column}`).join(', ')}
    from (
      select workspace_id, ${counts.join(', ')} from (${changed}) as c
      where workspace_id is not null group by workspace_id
    ) as d join workspaces w on w.id = d.workspace_id
    where ${columns.map((column) => `d.${column} <> 0`).join(' or ')}
    order by w.id
    on conflict (workspace_id) do update set
      ${columns.map((column) => `${column} = t.${column} + excluded.${column}`).join(', ')};
    return null;
  end
$$;
revoke execute on function ori_tally_${of}_${operation}() from public;
create trigger ori_tally_${of}_${operation} after ${operation} on ${table} referencing ${rows}
  for each statement execute function ori_tally_${of}_${operation}();
`,
  );
});

/**
 * Running totals of guardrails, their assignments, members and API keys, so that neither a `total_count` nor the space of an account is
 * counted by reading all of its rows. Triggers keep them, in the transaction of the change and with the privileges of
 * the owner. Each locks rows in one order, the guardrails before the workspaces.
 */
export const TALLIES = `
-- No foreign key to guardrails: the row is needed until the assignments of a deleted guardrail are gone.
create table guardrail_tallies (
  guardrail_id uuid primary key,
  organization_id text not null,
  workspace_id text not null,
  bytes bigint not null,
  key_assignments bigint not null default 0,
  member_assignments bigint not null default 0
);
create table workspace_tallies (
  workspace_id text primary key,
  organization_id text not null,
  guardrails bigint not null default 0,
  guardrail_bytes bigint not null default 0,
  key_assignments bigint not null default 0,
  member_assignments bigint not null default 0,
  members bigint not null default 0,
  keys bigint not null default 0,
  enabled_keys bigint not null default 0,
  foreign key (organization_id, workspace_id) references workspaces (organization_id, id) on delete cascade
);
create index workspace_tallies_organization on workspace_tallies (organization_id);
-- The guardrails with these ids changed: replaces what each of them added to its workspace by what it adds now.
create function ori_tally_guardrails(ids uuid[]) returns void language plpgsql security definer
set search_path = public, pg_temp as $$
  begin
    perform from guardrail_tallies where guardrail_id = any (ids) order by guardrail_id for update;
    insert into workspace_tallies as w
      (workspace_id, organization_id, guardrails, guardrail_bytes, key_assignments, member_assignments)
    select workspace_id, organization_id, sum(n), sum(n * bytes), sum(n * key_assignments), sum(n * member_assignments)
    from (
      select -1 as n, workspace_id, organization_id, bytes, key_assignments, member_assignments
      from guardrail_tallies where guardrail_id = any (ids)
      union all
      select 1, g.workspace_id, g.organization_id, octet_length(to_jsonb(g)::text),
        coalesce(t.key_assignments, 0), coalesce(t.member_assignments, 0)
      from guardrails g left join guardrail_tallies t on t.guardrail_id = g.id where g.id = any (ids)
    ) as change
    group by workspace_id, organization_id order by workspace_id
    on conflict (workspace_id) do update set
      guardrails = w.guardrails + excluded.guardrails,
      guardrail_bytes = w.guardrail_bytes + excluded.guardrail_bytes,
      key_assignments = w.key_assignments + excluded.key_assignments,
      member_assignments = w.member_assignments + excluded.member_assignments;
    insert into guardrail_tallies as t (guardrail_id, organization_id, workspace_id, bytes)
    select id, organization_id, workspace_id, octet_length(to_jsonb(g)::text)
    from guardrails g where id = any (ids) order by id
    on conflict (guardrail_id) do update set
      organization_id = excluded.organization_id, workspace_id = excluded.workspace_id, bytes = excluded.bytes;
    delete from guardrail_tallies t
    where guardrail_id = any (ids) and not exists (select from guardrails g where g.id = t.guardrail_id);
  end
$$;

-- As many assignments were added to each of these guardrails; fewer than none: removed.
create function ori_tally_assignments(ids uuid[], keys bigint[], members bigint[]) returns void language plpgsql
security definer set search_path = public, pg_temp as $$
  begin
    perform from guardrail_tallies where guardrail_id = any (ids) order by guardrail_id for update;
    update guardrail_tallies t set
      key_assignments = t.key_assignments + d.keys, member_assignments = t.member_assignments + d.members
    from unnest(ids, keys, members) as d (id, keys, members) where t.guardrail_id = d.id;
    insert into workspace_tallies as w (workspace_id, organization_id, key_assignments, member_assignments)
    select workspace_id, organization_id, sum(d.keys), sum(d.members)
    from unnest(ids, keys, members) as d (id, keys, members) join guardrail_tallies t on t.guardrail_id = d.id
    group by workspace_id, organization_id order by workspace_id
    on conflict (workspace_id) do update set
      key_assignments = w.key_assignments + excluded.key_assignments,
      member_assignments = w.member_assignments + excluded.member_assignments;
  end
$$;
revoke execute on function ori_tally_guardrails(uuid[]), ori_tally_assignments(uuid[], bigint[], bigint[]) from public;
${OF_GUARDRAILS.join('')}
${OF_COUNTED.join('')}`;
