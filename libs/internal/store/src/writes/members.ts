import { sql } from 'kysely';
import type { Handle } from '../database.ts';
import { AdminError, translateConstraints } from './admin-error.ts';

/**
 * The members of one workspace; with an organization, only if the workspace belongs to that one. An operator names none,
 * and only an operator restores whom an operator removed.
 */
export interface MembersChoice {
  readonly workspaceId: string;
  readonly organizationId?: string | undefined;
  readonly userIds: readonly string[];
}

/** Adds all users as members, or restores removed ones: all or none. @throws AdminError `not_found` */
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

/** Removes those who are members, and returns how many were. Their rows stay, because a former member gets 403 and anyone else 404. */
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
