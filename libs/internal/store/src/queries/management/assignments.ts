import { randomUUID } from 'node:crypto';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { Database } from '../../database.ts';
import type { Schema } from '../../schema.ts';
import { guardrailOf } from './guardrails.ts';
import { type Page, type PageRequest, readPage } from './page.ts';
import { failedWith } from './sql-state.ts';
import { type Account, asTenant, asWriter } from './tenant.ts';

export interface AssignmentRow {
  readonly id: string;
  readonly guardrail_id: string;
  readonly assigned_by: string | null;
  readonly created_at: Date;
}
export interface KeyAssignmentRow extends AssignmentRow {
  readonly key_hash: string;
  readonly key_name: string;
  readonly key_label: string;
}
export interface MemberAssignmentRow extends AssignmentRow {
  readonly user_id: string;
  readonly organization_id: string;
}

/** A kind of target of guardrail assignments: its table, and the query of valid targets. */
export interface Assignable<Row extends AssignmentRow> {
  readonly table: RawBuilder<unknown>;
  readonly target: RawBuilder<unknown>;
  /** A target has at most one guardrail in an account; assigning it again moves it. */
  readonly atMostOne: RawBuilder<unknown>;
  /** The column of the tallies that counts them. */
  readonly tally: RawBuilder<number>;
  /** The assignments of a page, as the API shows them. */
  readonly shown: (page: RawBuilder<unknown>) => RawBuilder<Row>;
  /** The row that makes `wanted.target` a valid target of the account, as a query. */
  readonly validTarget: (account: Account) => RawBuilder<unknown>;
}

export const KEYS: Assignable<KeyAssignmentRow> = {
  table: sql`guardrail_key_assignments`,
  target: sql`key_hash`,
  atMostOne: sql`key_hash`,
  tally: sql`key_assignments`,
  shown: (page) => sql`
    select a.id, a.guardrail_id, a.key_hash, k.name as key_name, k.label as key_label, a.assigned_by, a.created_at
    from (${page}) a,
      lateral (select name, label from api_keys where hash = a.key_hash offset 0) k`,
  validTarget: ({ organizationId }) => sql`
    select from api_keys k
    where k.organization_id = ${organizationId} and k.hash = wanted.target
      and (k.workspace_id is null
        or exists (select from workspaces w where w.id = k.workspace_id and w.deleted_at is null))`,
};

export const MEMBERS: Assignable<MemberAssignmentRow> = {
  table: sql`guardrail_member_assignments`,
  target: sql`user_id`,
  atMostOne: sql`organization_id, user_id`,
  tally: sql`member_assignments`,
  shown: (page) => sql`
    select a.id, a.guardrail_id, a.user_id, a.organization_id, a.assigned_by, a.created_at from (${page}) a`,
  validTarget: ({ organizationId }) => sql`
    select from members m join workspaces w on w.id = m.workspace_id
    where m.user_id = wanted.target and m.organization_id = ${organizationId} and m.removed_at is null
      and w.deleted_at is null`,
};

/**
 * `absent`: the account has no such guardrail. `unknown`: these targets do not belong to the account; nothing was
 * assigned.
 */
export type AssignOutcome = { readonly count: number } | { readonly unknown: readonly string[] } | 'absent';

async function hasGuardrail(trx: Transaction<Schema>, account: Account, id: string): Promise<boolean> {
  const row = await guardrailOf(trx, account, id).select('id').executeTakeFirst();
  return row !== undefined;
}

/**
 * A page of the assignments of one guardrail, of one target, or of all, newest first; undefined if the guardrail does
 * not exist.
 */
export function listAssignments<Row extends AssignmentRow>(
  db: Database,
  kind: Assignable<Row>,
  account: Account,
  { guardrailId, target, offset, limit }: PageRequest & { guardrailId?: string; target?: string | undefined },
): Promise<Page<Row> | undefined> {
  return asTenant(db, account, async (trx) => {
    if (guardrailId !== undefined && !(await hasGuardrail(trx, account, guardrailId))) return undefined;
    const [matching, total] =
      guardrailId === undefined
        ? [
            await inLiveWorkspaces(trx, account),
            sql<number>`coalesce((
              select sum(t.${kind.tally}) from workspace_tallies t join workspaces w on w.id = t.workspace_id
              where t.organization_id = ${account.organizationId} and w.deleted_at is null), 0)`,
          ]
        : [
            sql`a.guardrail_id = ${guardrailId}`,
            sql<number>`coalesce((select ${kind.tally} from guardrail_tallies where guardrail_id = ${guardrailId}), 0)`,
          ];
    const ofTarget = target === undefined ? sql`` : sql`and a.${kind.target} = ${target}`;
    const all = sql`
      from ${kind.table} a where a.organization_id = ${account.organizationId} and ${matching} ${ofTarget}`;
    return readPage(trx, {
      // A target has at most one.
      total: target === undefined ? total : sql`(select count(*) ${all})`,
      rows: kind.shown(sql`select * ${all} order by a.created_at desc, a.id offset ${offset} limit ${limit}`),
      order: sql`page.created_at desc, page.id`,
    });
  });
}

/**
 * The condition that the guardrail of an assignment is not in a deleted workspace. Few accounts have a deleted workspace;
 * for the others no guardrail is read.
 */
async function inLiveWorkspaces(
  trx: Transaction<Schema>,
  { organizationId }: Account,
): Promise<RawBuilder<unknown>> {
  const { rows } = await sql<{ id: string }>`
    select id from workspaces where organization_id = ${organizationId} and deleted_at is not null`.execute(
    trx,
  );
  if (rows.length === 0) return sql`true`;
  const deleted = rows.map(({ id }) => id);
  return sql`not exists (
    select from guardrails g where g.id = a.guardrail_id and g.workspace_id = any (${deleted}::text[]) offset 0)`;
}

/** Assigns all of the targets or none. A target that already has the guardrail counts and stays unchanged. */
export async function assign<Row extends AssignmentRow>(
  db: Database,
  kind: Assignable<Row>,
  account: Account,
  {
    guardrailId,
    targets,
    assignedBy,
  }: { guardrailId: string; targets: readonly string[]; assignedBy: string | null },
): Promise<AssignOutcome> {
  const distinct = [...new Set(targets)].sort();
  try {
    return await asWriter(db, account, async (trx) => {
      if (!(await hasGuardrail(trx, account, guardrailId))) return 'absent';
      const { rows } = await sql<{ target: string }>`
        select target from unnest(${distinct}::text[]) as wanted (target)
        where not exists (${kind.validTarget(account)})`.execute(trx);
      if (rows.length > 0) return { unknown: rows.map((row) => row.target) };
      await sql`
        insert into ${kind.table} as a (id, organization_id, guardrail_id, assigned_by, ${kind.target})
        select id::uuid, ${account.organizationId}, ${guardrailId}::uuid, ${assignedBy}, target
        from unnest(${distinct.map(() => randomUUID())}::text[], ${distinct}::text[]) as wanted (id, target)
        on conflict (${kind.atMostOne}) do update
          set guardrail_id = excluded.guardrail_id, assigned_by = excluded.assigned_by, created_at = now()
          where a.guardrail_id <> excluded.guardrail_id`.execute(trx);
      return { count: distinct.length };
    });
  } catch (error) {
    if (failedWith(error, 'foreign_key_violation')) return 'absent';
    throw error;
  }
}

/** Removes the guardrail from its targets and returns from how many; `absent` if it does not exist. */
export function unassign<Row extends AssignmentRow>(
  db: Database,
  kind: Assignable<Row>,
  account: Account,
  { guardrailId, targets }: { guardrailId: string; targets: readonly string[] },
): Promise<{ readonly count: number } | 'absent'> {
  return asWriter(db, account, async (trx) => {
    if (!(await hasGuardrail(trx, account, guardrailId))) return 'absent';
    const { rows } = await sql`
      delete from ${kind.table}
      where organization_id = ${account.organizationId} and guardrail_id = ${guardrailId}
        and ${kind.target} = any (${[...targets]}::text[])
      returning id`.execute(trx);
    return { count: rows.length };
  });
}
