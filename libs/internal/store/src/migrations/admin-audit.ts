/** Every table that operators and the management service change, with the columns that identify a row. */
const AUDITED: Readonly<Record<string, readonly string[]>> = {
  organizations: ['id'],
  workspaces: ['id'],
  users: ['id'],
  user_subjects: ['issuer', 'subject'],
  members: ['workspace_id', 'user_id'],
  api_keys: ['hash'],
  interns: ['id'],
  intern_icons: ['intern_id'],
  signing_keys: ['id'],
  switches: ['name'],
  byok_credentials: ['id'],
  guardrails: ['id'],
  guardrail_key_assignments: ['id'],
  guardrail_member_assignments: ['id'],
};

/** What changes rows, and the transition tables that its trigger may name. */
const TRANSITIONS = [
  ['insert', 'new table as fresh'],
  ['update', 'old table as former new table as fresh'],
  ['delete', 'old table as former'],
] as const;

const TRIGGERS = Object.entries(AUDITED).flatMap(([table, key]) =>
  TRANSITIONS.map(
    ([operation, rows]) => `
create trigger ori_audit_${operation} after ${operation} on ${table} referencing ${rows}
  for each statement execute function ori_audit(${key.map((column) => `'${column}'`).join(', ')});`,
  ),
);

/**
 * The audit of administration. A trigger function writes a row for each changed row, in the transaction of the change
 * and with the privileges of the owner, so no role needs to write here. Not even the owner can change or delete rows
 * without first disabling the trigger that refuses it.
 */
export const ADMIN_AUDIT = `
create table admin_audit (
  seq bigint generated always as identity primary key,
  at timestamptz(3) not null default clock_timestamp(),
  transaction xid8 not null default pg_current_xact_id(),
  login text not null,
  actor text not null,
  break_glass boolean not null,
  organization_id text,
  table_name text not null,
  row_key text not null,
  operation text not null,
  before jsonb,
  after jsonb
);
create index admin_audit_row on admin_audit (table_name, row_key);

-- Sealed texts are named, not copied; large values are recorded as length and digest.
create function ori_audited(facts jsonb) returns jsonb language sql immutable as $$
  select jsonb_object_agg(key, case
    when key in ('sealed_seed', 'sealed_key') then to_jsonb('[sealed]'::text)
    when key = 'bytes' or length(value::text) > 4096 then jsonb_build_object(
      'bytes', length(value::text), 'sha256', encode(sha256(convert_to(value::text, 'UTF8')), 'hex'))
    else value end)
  from jsonb_each(facts)
$$;

-- The members of facts whose value differs in others.
create function ori_differing(facts jsonb, others jsonb) returns jsonb language sql immutable as $$
  select jsonb_object_agg(key, value) from jsonb_each(facts) where others -> key is distinct from value
$$;

create function ori_row_key(facts jsonb, columns text[]) returns text language sql immutable as $$
  select string_agg(facts ->> name, ' ' order by place) from unnest(columns) with ordinality as c (name, place)
$$;

-- The organization of a row without its id: of an organization itself, and of the keys and the icon of an intern, unless it
-- was deleted with them. Otherwise that of the transaction.
create function ori_organization_of(facts jsonb, of_table text) returns text language sql stable as $$
  select coalesce(case of_table when 'organizations' then facts ->> 'id' end,
    (select organization_id from interns where id = facts ->> 'intern_id'),
    nullif(current_setting('ori.organization_id', true), ''))
$$;

-- The actor of a change. The management service may name any API key by its hash; everybody else only a role that the
-- login is a member of.
create function ori_audit_actor(acting text, owner boolean) returns text language plpgsql stable as $$
  declare
    claimed text := nullif(current_setting('ori.actor', true), '');
  begin
    if claimed is null then return acting; end if;
    if not owner and pg_has_role(acting, 'ori_management', 'member') and claimed ~ '^api_key:[0-9a-f]{64}$' then
      return claimed;
    end if;
    if to_regrole(quote_ident(claimed)) is not null and pg_has_role(acting, claimed, 'member') then return claimed; end if;
    raise exception 'actor % is not proven by the login %', claimed, acting using errcode = '42501';
  end
$$;

create function ori_audit() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
  declare
    acting text := coalesce(nullif(current_setting('role'), 'none'), session_user);
    owner boolean := pg_has_role(acting, current_user, 'member');
    who text := ori_audit_actor(acting, owner);
  begin
    if tg_op = 'INSERT' then
      insert into admin_audit (login, actor, break_glass, organization_id, table_name, row_key, operation, after)
      select session_user, who, owner, coalesce(fact ->> 'organization_id', ori_organization_of(fact, tg_table_name)),
        tg_table_name, ori_row_key(fact, tg_argv), 'insert', ori_audited(fact)
      from (select to_jsonb(f) as fact from fresh f) as f;
    elsif tg_op = 'DELETE' then
      insert into admin_audit (login, actor, break_glass, organization_id, table_name, row_key, operation, before)
      select session_user, who, owner, coalesce(fact ->> 'organization_id', ori_organization_of(fact, tg_table_name)),
        tg_table_name, ori_row_key(fact, tg_argv), 'delete', ori_audited(fact)
      from (select to_jsonb(f) as fact from former f) as f;
    else
      -- A re-seal changes the sealed texts of many rows, their KEK, and nothing else: one audit row names them all.
      with changed as (
        select coalesce(o.key, n.key) as key, coalesce(n.fact, o.fact) as fact,
          ori_differing(o.fact, coalesce(n.fact, '{}')) as before, ori_differing(n.fact, coalesce(o.fact, '{}')) as after
        from (select ori_row_key(to_jsonb(f), tg_argv) as key, to_jsonb(f) as fact from former f) as o
        full join (select ori_row_key(to_jsonb(f), tg_argv) as key, to_jsonb(f) as fact from fresh f) as n using (key)
      ), told as (
        select * from changed where before is not null or after is not null
      ), summary as (
        select count(*) > 1 and bool_and(after - 'sealed_seed' - 'sealed_key' - 'kek' = '{}') as is_reseal from told
      )
      insert into admin_audit (login, actor, break_glass, organization_id, table_name, row_key, operation, before, after)
      select session_user, who, owner, coalesce(fact ->> 'organization_id', ori_organization_of(fact, tg_table_name)),
        tg_table_name, key, 'update', ori_audited(before), ori_audited(after)
      from told, summary where not is_reseal
      union all
      select session_user, who, owner, null, tg_table_name, count(*) || ' rows', 'reseal', null,
        jsonb_build_object('rows', jsonb_agg(key))
      from told, summary where is_reseal having count(*) > 0;
    end if;
    return null;
  end
$$;
${TRIGGERS.join('')}

create function ori_append_only() returns trigger language plpgsql as $$
  begin raise exception '% is append-only', tg_table_name using errcode = '42501'; end
$$;
create trigger append_only before update or delete or truncate on admin_audit
  for each statement execute function ori_append_only();
revoke execute on function ori_audit(), ori_audited(jsonb), ori_differing(jsonb, jsonb), ori_row_key(jsonb, text[]),
  ori_organization_of(jsonb, text), ori_audit_actor(text, boolean), ori_append_only() from public;
`;
