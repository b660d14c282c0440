import { TRANSITIONS } from './transitions.ts';

/** What the tally of a workspace adds up: the table, and for each column the sum over added (`n = 1`) and removed (-1) rows. */
const COUNTED = [
  {
    of: 'guardrail',
    table: 'guardrail_tallies',
    tallies: {
      guardrails: 'sum(n)',
      guardrail_bytes: 'sum(n * bytes)',
      key_assignments: 'sum(n * key_assignments)',
      member_assignments: 'sum(n * member_assignments)',
    },
  },
  { of: 'member', table: 'members', tallies: { members: 'sum(n) filter (where removed_at is null)' } },
  {
    of: 'key',
    table: 'api_keys',
    tallies: { keys: 'sum(n)', enabled_keys: 'sum(n) filter (where disabled_at is null)' },
  },
] as const;

const OF_GUARDRAILS = TRANSITIONS.map(
  ({ operation, rows }) => `
create trigger ori_tally_guardrails_${operation} after ${operation} on guardrails referencing ${rows}
  for each statement execute function ori_tally_guardrails();`,
);

const OF_ASSIGNMENTS = TRANSITIONS.map(
  ({ operation, rows, changed }) => `
create function ori_tally_assignments_${operation}() returns trigger language plpgsql security definer
set search_path = public, pg_temp as $$
  declare is_key int := (tg_table_name = 'guardrail_key_assignments')::int;
  begin
    with change as (
      select guardrail_id, sum(n) as n from (${changed}) as c group by guardrail_id having sum(n) <> 0
    ), locked as (
      select t.guardrail_id, n from guardrail_tallies t join change using (guardrail_id) order by 1 for update of t
    )
    update guardrail_tallies t set
      key_assignments = t.key_assignments + n * is_key, member_assignments = t.member_assignments + n * (1 - is_key)
    from locked where t.guardrail_id = locked.guardrail_id;
    return null;
  end
$$;
revoke execute on function ori_tally_assignments_${operation}() from public;
create trigger ori_tally_assignments_${operation} after ${operation} on guardrail_key_assignments referencing ${rows}
  for each statement execute function ori_tally_assignments_${operation}();
create trigger ori_tally_assignments_${operation} after ${operation} on guardrail_member_assignments referencing ${rows}
  for each statement execute function ori_tally_assignments_${operation}();
`,
);

/** A row of a workspace that is being deleted adds nothing: its tally is deleted too. */
const OF_WORKSPACES = COUNTED.flatMap(({ of, table, tallies }) => {
  const columns = Object.keys(tallies);
  const sums = Object.entries(tallies).map(([column, sum]) => `coalesce(${sum}, 0) as ${column}`);
  return TRANSITIONS.map(
    ({ operation, rows, changed }) => `
create function ori_tally_${of}_${operation}() returns trigger language plpgsql security definer
set search_path = public, pg_temp as $$
  begin
    insert into workspace_tallies as t (workspace_id, organization_id, ${columns.join(', ')})
    select w.id, w.organization_id, ${columns.map((column) => `d.${column}`).join(', ')}
    from (
      select workspace_id, ${sums.join(', ')} from (${changed}) as c
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

create function ori_tally_guardrails() returns trigger language plpgsql security definer
set search_path = public, pg_temp as $$
  begin
    if tg_op <> 'INSERT' then
      perform from guardrail_tallies where guardrail_id in (select id from former) order by guardrail_id for update;
      delete from guardrail_tallies where guardrail_id in (select id from former except select id from guardrails);
    end if;
    if tg_op <> 'DELETE' then
      insert into guardrail_tallies (guardrail_id, organization_id, workspace_id, bytes)
      select id, organization_id, workspace_id, octet_length(to_jsonb(f)::text) from fresh f order by id
      on conflict (guardrail_id) do update set
        organization_id = excluded.organization_id, workspace_id = excluded.workspace_id, bytes = excluded.bytes;
    end if;
    return null;
  end
$$;
revoke execute on function ori_tally_guardrails() from public;
${OF_GUARDRAILS.join('')}
${OF_ASSIGNMENTS.join('')}
${OF_WORKSPACES.join('')}`;
