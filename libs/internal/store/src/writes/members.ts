import { sql } from 'kysely';
import { z } from 'zod';
import type { Handle } from '../database.ts';
import { AdminError, requireInput, translateConstraints } from './admin-error.ts';
import { changeRow } from './change-row.ts';
import { idSchema } from './ids.ts';

const membership = z.strictObject({ workspaceId: idSchema, userId: idSchema });

type Membership = z.input<typeof membership>;

/** Adds the user as a member, or restores a removed one. */
export async function addMember(db: Handle, input: Membership): Promise<void> {
  const { workspaceId, userId } = requireInput(membership, input);
  await addMembers(db, { workspaceId, userIds: [userId] });
}

/**
 * The members of one workspace; with an organization, only if the workspace belongs to that one. An operator names none,
 * and only an operator restores whom an operator removed.
 */
export interface MembersChoice {
  readonly workspaceId: string;
  readonly organizationId?: string | undefined;
  readonly userIds: readonly string[];
}

/** Adds all users or none, as `addMember` does. @throws AdminError `not_found` */
export async function addMembers(
  db: Handle,
  { workspaceId, organizationId, userIds }: MembersChoice,
): Promise<void> {
  const { rows } = await translateConstraints('member', () =>
    sql`
      with place as (
        select id, organization_id from workspaces
        where id = ${workspaceId} and deleted_at is null
          and organization_id = coalesce(${organizationId ?? null}, organization_id)
      ), added as (
        insert into members (workspace_id, organization_id, user_id)
        select place.id, place.organization_id, wanted.user_id
        from place, unnest(${inOrder(userIds)}::text[]) as wanted (user_id)
        order by wanted.user_id
        on conflict (workspace_id, user_id) do update set removed_at = null
          ${organizationId === undefined ? sql`, removed_by_operator = false` : sql``}
        where members.removed_at is not null
      )
      select from place`.execute(db.kysely),
  );
  if (rows.length === 0) throw new AdminError('not_found', `no workspace ${workspaceId}`);
}

/**
 * The row stays, because a former member gets 403 and anyone else 404. A second removal keeps the time of the first. Only an
 * operator adds them again, or with `byAccount` the account too.
 */
export async function removeMember(
  db: Handle,
  { workspaceId, userId, byAccount = false }: Membership & { readonly byAccount?: boolean },
): Promise<void> {
  const mark = sql`removed_by_operator = removed_by_operator or ${!byAccount}`;
  const removal = sql`
    update members set removed_at = coalesce(removed_at, now()), ${mark}
    where workspace_id = ${workspaceId} and user_id = ${userId}`;
  await changeRow(db, `member ${userId} of ${workspaceId}`, removal);
}

/** Removes those who are members, as `removeMember` does, and returns how many were. */
export async function removeMembers(
  db: Handle,
  { workspaceId, organizationId, userIds }: MembersChoice,
): Promise<number> {
  const { rows } = await sql`
    with former as (
      select workspace_id, user_id from members
      where workspace_id = ${workspaceId} and organization_id = coalesce(${organizationId ?? null}, organization_id)
        and user_id = any (${inOrder(userIds)}::text[]) and removed_at is null
      order by user_id for update)
    update members m set removed_at = now()
      ${organizationId === undefined ? sql`, removed_by_operator = true` : sql``}
    from former f
    where m.workspace_id = f.workspace_id and m.user_id = f.user_id
    returning m.user_id`.execute(db.kysely);
  return rows.length;
}

/** Each once, in a fixed order, so that two requests cannot deadlock. */
const inOrder = (ids: readonly string[]): string[] => [...new Set(ids)].sort();
