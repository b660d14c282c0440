import { sql } from 'kysely';
import { z } from 'zod';
import type { Database, Handle } from '../../database.ts';
import { AdminError, judged, requireInput } from './admin-error.ts';
import { changeRow } from './change-row.ts';
import { idSchema, nowSeconds, secondsSchema } from './ids.ts';

const membership = z.strictObject({ workspaceId: idSchema, userId: idSchema });

type Membership = z.input<typeof membership>;

/** Adds the user as a member, or restores a removed one. Revoked sessions stay revoked. */
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
  const rows = await judged('member', async () => {
    const place = sql`w.id = ${workspaceId} and w.deleted_at is null
      and w.organization_id = coalesce(${organizationId ?? null}, w.organization_id)`;
    await sql`
      insert into members (workspace_id, organization_id, user_id)
      select w.id, w.organization_id, wanted.user_id
      from workspaces w, unnest(${inOrder(userIds)}::text[]) as wanted (user_id)
      where ${place}
      order by wanted.user_id
      on conflict (workspace_id, user_id) do update set removed_at = null
        ${organizationId === undefined ? sql`, removed_by_operator = false` : sql``}
      where members.removed_at is not null`.execute(db.kysely);
    return (await sql`select from workspaces w where ${place}`.execute(db.kysely)).rows;
  });
  if (rows.length === 0) throw new AdminError('not_found', `no workspace ${workspaceId}`);
}

/**
 * The row stays, because a former member gets 403 and anyone else 404. A second removal keeps the time of the first.
 */
export async function removeMember(db: Handle, { workspaceId, userId }: Membership): Promise<void> {
  const removal = sql`
    update members set removed_at = coalesce(removed_at, now()), removed_by_operator = true
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

/** A time in the future would also refuse new sign-ins. */
const AHEAD_SECONDS_MAX = 60;

const revocation = z.strictObject({
  userId: idSchema,
  workspaceId: idSchema.optional(),
  validFrom: secondsSchema
    .refine((at) => at <= nowSeconds() + AHEAD_SECONDS_MAX, 'expected Unix seconds, at most 60 from now')
    .optional(),
});

/** Where the sessions of a user are revoked, and from which time on they are valid. */
export interface SessionsValidFrom {
  readonly workspaceId: string;
  /** Unix seconds; null if none are revoked. */
  readonly validFrom: number | null;
  readonly changed: boolean;
}

/**
 * Revokes the user's sessions that began before `validFrom` (Unix seconds), in one workspace or in all. The default is
 * the next whole second: sessions are dated in whole seconds, and one that began in this second is revoked too. A time
 * earlier than the stored one changes nothing.
 *
 * @returns each membership, as it is now
 */
export async function revokeSessions(
  db: Database,
  input: z.input<typeof revocation>,
): Promise<SessionsValidFrom[]> {
  const { userId, workspaceId, validFrom = nowSeconds() + 1 } = requireInput(revocation, input);
  return await changeSessions(
    db,
    { userId, workspaceId },
    (former) => Math.max(former ?? 0, validFrom) || former,
  );
}

/** Undoes {@link revokeSessions}: sessions count again, whenever they began. */
export async function clearRevokedSessions(
  db: Database,
  input: { readonly userId: string; readonly workspaceId?: string | undefined },
): Promise<SessionsValidFrom[]> {
  const { userId, workspaceId } = requireInput(revocation, input);
  return await changeSessions(db, { userId, workspaceId }, () => null);
}

async function changeSessions(
  db: Database,
  { userId, workspaceId }: { readonly userId: string; readonly workspaceId: string | undefined },
  next: (former: number | null) => number | null,
): Promise<SessionsValidFrom[]> {
  return await db.kysely.transaction().execute(async (tx) => {
    let memberships = tx
      .selectFrom('members')
      .select(['workspace_id', 'sessions_valid_from'])
      .where('user_id', '=', userId);
    if (workspaceId !== undefined) memberships = memberships.where('workspace_id', '=', workspaceId);
    const rows = await memberships.orderBy('workspace_id').forUpdate().execute();
    if (rows.length === 0) throw new AdminError('not_found', `no membership of ${userId}`);
    const outcome = rows.map(({ workspace_id, sessions_valid_from: former }) => {
      const validFrom = next(former);
      return { workspaceId: workspace_id, validFrom, changed: validFrom !== former };
    });
    for (const { workspaceId: id, validFrom, changed } of outcome) {
      if (!changed) continue;
      const row = tx.updateTable('members').set({ sessions_valid_from: validFrom });
      await row.where('user_id', '=', userId).where('workspace_id', '=', id).execute();
    }
    return outcome;
  });
}
