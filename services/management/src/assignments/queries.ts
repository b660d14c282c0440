import { randomUUID } from 'node:crypto';
import type { Database } from '@ori/store/database';
import type { Schema } from '@ori/store/schema';
import { failedWith } from '@ori/store/sql-state';
import { type Account, asTenant, asWriter } from '@ori/store/tenant';
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { notFound } from '../callers/caller.ts';
import { guardrailOf } from '../guardrails/queries.ts';
import { type Page, type PageRequest, readPage } from '../read-page.ts';
import { Refusal } from '../refusal.ts';

/** With what its kind adds. */
export interface AssignmentRow {
  readonly id: string;
  readonly guardrail_id: string;
  readonly assigned_by: string | null;
  readonly created_at: Date;
}

/** A kind of target of guardrail assignments: its table, and the query of valid targets. */
export interface Assignable {
  readonly plural: 'keys' | 'members';
  readonly table: RawBuilder<unknown>;
  readonly target: RawBuilder<unknown>;
  /** A target has at most one guardrail in an account; assigning it again moves it. */
  readonly atMostOne: RawBuilder<unknown>;
  /** The assignments of a page, as the API shows them. */
  readonly shown: (page: RawBuilder<unknown>) => RawBuilder<AssignmentRow>;
  /** The row that makes `wanted.target` a valid target of the account, as a query. */
  readonly validTarget: (account: Account) => RawBuilder<unknown>;
}

export const KEYS: Assignable = {
  plural: 'keys',
  table: sql`guardrail_key_assignments`,
  target: sql`key_hash`,
  atMostOne: sql`key_hash`,
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

export const MEMBERS: Assignable = {
  plural: 'members',
  table: sql`guardrail_member_assignments`,
  target: sql`user_id`,
  atMostOne: sql`organization_id, user_id`,
  shown: (page) => sql`
    select a.id, a.guardrail_id, a.user_id, a.organization_id, a.assigned_by, a.created_at from (${page}) a`,
  validTarget: ({ organizationId }) => sql`
    select from members m join workspaces w on w.id = m.workspace_id
    where m.user_id = wanted.target and m.organization_id = ${organizationId} and m.removed_at is null
      and w.deleted_at is null`,
};

async function requireGuardrail(trx: Transaction<Schema>, account: Account, id: string): Promise<void> {
  const row = await guardrailOf(trx, account, id).select('id').executeTakeFirst();
  if (row === undefined) throw notFound();
}

/**
 * A page of the assignments of one guardrail, of one target, or of all, newest first.
 *
 * @throws Refusal `not_found` if the account has no such guardrail
 */
export function listAssignments(
  db: Database,
  account: Account,
  kind: Assignable,
  { guardrailId, target, ...page }: PageRequest & { guardrailId?: string; target?: string | undefined },
): Promise<Page<AssignmentRow>> {
  return asTenant(db, account, async (trx) => {
    if (guardrailId !== undefined) await requireGuardrail(trx, account, guardrailId);
    const ofGuardrail =
      guardrailId === undefined ? await inLiveWorkspaces(trx, account) : sql`a.guardrail_id = ${guardrailId}`;
    const ofTarget = target === undefined ? sql`` : sql`and a.${kind.target} = ${target}`;
    const matches = sql`
      from ${kind.table} a where a.organization_id = ${account.organizationId} and ${ofGuardrail} ${ofTarget}`;
    return readPage(trx, { matches, order: sql`created_at desc, id`, shown: kind.shown, ...page });
  });
}

/** The condition that the guardrail of an assignment is not in a deleted workspace. */
async function inLiveWorkspaces(
  trx: Transaction<Schema>,
  { organizationId }: Account,
): Promise<RawBuilder<unknown>> {
  // Their ids are read first, so that the query is planned for them: mostly there are none.
  const { rows } = await sql<{ id: string }>`
    select id from workspaces where organization_id = ${organizationId} and deleted_at is not null`.execute(
    trx,
  );
  const deleted = rows.map(({ id }) => id);
  return sql`a.guardrail_id not in (select id from guardrails where workspace_id = any (${deleted}::text[]))`;
}

/**
 * Assigns all of the targets or none, and returns how many there are. A target that already has the guardrail counts and
 * stays unchanged.
 *
 * @throws Refusal `not_found` if the account has no such guardrail, `invalid_parameters` if a target is not the account's
 */
export async function assign(
  db: Database,
  account: Account,
  kind: Assignable,
  {
    guardrailId,
    targets,
    assignedBy,
  }: { guardrailId: string; targets: readonly string[]; assignedBy: string | null },
): Promise<number> {
  const distinct = [...new Set(targets)].sort();
  try {
    return await asWriter(db, account, async (trx) => {
      await requireGuardrail(trx, account, guardrailId);
      const { rows } = await sql<{ target: string }>`
        select target from unnest(${distinct}::text[]) as wanted (target)
        where not exists (${kind.validTarget(account)})`.execute(trx);
      const [unknown] = rows;
      if (unknown !== undefined) {
        const reason = `${unknown.target} is not one of the account's ${kind.plural}; nothing was assigned.`;
        throw new Refusal('invalid_parameters', reason);
      }
      await sql`
        insert into ${kind.table} as a (id, organization_id, guardrail_id, assigned_by, ${kind.target})
        select id::uuid, ${account.organizationId}, ${guardrailId}::uuid, ${assignedBy}, target
        from unnest(${distinct.map(() => randomUUID())}::text[], ${distinct}::text[]) as wanted (id, target)
        on conflict (${kind.atMostOne}) do update
          set guardrail_id = excluded.guardrail_id, assigned_by = excluded.assigned_by, created_at = now()
          where a.guardrail_id <> excluded.guardrail_id`.execute(trx);
      return distinct.length;
    });
  } catch (error) {
    if (failedWith(error, 'foreign_key_violation')) throw notFound();
    throw error;
  }
}

/**
 * Removes the guardrail from its targets and returns from how many.
 *
 * @throws Refusal `not_found` if the account has no such guardrail
 */
export function unassign(
  db: Database,
  account: Account,
  kind: Assignable,
  { guardrailId, targets }: { guardrailId: string; targets: readonly string[] },
): Promise<number> {
  return asWriter(db, account, async (trx) => {
    await requireGuardrail(trx, account, guardrailId);
    const { rows } = await sql`
      delete from ${kind.table}
      where organization_id = ${account.organizationId} and guardrail_id = ${guardrailId}
        and ${kind.target} = any (${[...targets]}::text[])
      returning id`.execute(trx);
    return rows.length;
  });
}
