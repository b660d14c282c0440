import { sql } from 'kysely';
import { z } from 'zod';
import type { Database } from '../../database.ts';
import { AdminError, judged, requireInput } from './admin-error.ts';
import { idSchema, secondsSchema } from './ids.ts';
import { nowSeconds } from './key-timing.ts';

const membership = z.strictObject({ workspaceId: idSchema, userId: idSchema });

type Membership = z.input<typeof membership>;

/** Adds the user as a member, or restores a removed one. Revoked sessions stay revoked. */
export async function addMember(db: Database, input: Membership): Promise<void> {
  const { workspaceId, userId } = requireInput(membership, input);
  const { numInsertedOrUpdatedRows } = await judged('member', () =>
    db.kysely
      .insertInto('members')
      .columns(['workspace_id', 'organization_id', 'user_id'])
      .expression((from) =>
        from
          .selectFrom('workspaces')
          .select((select) => ['id', 'organization_id', select.val(userId).as('user_id')])
          .where('id', '=', workspaceId)
          .where('deleted_at', 'is', null),
      )
      .onConflict((conflict) =>
        conflict.columns(['workspace_id', 'user_id']).doUpdateSet({ removed_at: null }),
      )
      .executeTakeFirst(),
  );
  if (numInsertedOrUpdatedRows === 0n) throw new AdminError('not_found', `no workspace ${workspaceId}`);
}

/**
 * The row stays, because a former member gets 403 and anyone else 404. A second removal keeps the time of the first.
 */
export async function removeMember(db: Database, { workspaceId, userId }: Membership): Promise<void> {
  const { numUpdatedRows } = await db.kysely
    .updateTable('members')
    .set({ removed_at: sql<Date>`coalesce(removed_at, now())` })
    .where('workspace_id', '=', workspaceId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new AdminError('not_found', `no member ${userId} of ${workspaceId}`);
}

/** A time in the future would also refuse new sign-ins, and cannot be undone. */
const AHEAD_SECONDS_MAX = 60;

const revocation = z.strictObject({
  userId: idSchema,
  workspaceId: idSchema.optional(),
  validFrom: secondsSchema
    .refine((at) => at <= nowSeconds() + AHEAD_SECONDS_MAX, 'expected Unix seconds, at most 60 from now')
    .optional(),
});

/**
 * Revokes the user's sessions that began before `validFrom` (Unix seconds), in one workspace or in all. The default is
 * the next whole second: sessions are dated in whole seconds, and one that began in this second is revoked too. A time
 * earlier than the stored one changes nothing.
 */
export async function revokeSessions(
  db: Database,
  input: z.input<typeof revocation>,
): Promise<{ validFrom: number }> {
  const { userId, workspaceId, validFrom = nowSeconds() + 1 } = requireInput(revocation, input);
  let update = db.kysely
    .updateTable('members')
    .set({ sessions_valid_from: sql<number>`greatest(sessions_valid_from, ${validFrom})` })
    .where('user_id', '=', userId);
  if (workspaceId !== undefined) update = update.where('workspace_id', '=', workspaceId);
  const { numUpdatedRows } = await update.executeTakeFirst();
  if (numUpdatedRows === 0n) throw new AdminError('not_found', `no membership of ${userId}`);
  return { validFrom };
}
