import { z } from 'zod';
import type { Database } from '../../database.ts';
import { AdminError, requireInput } from './admin-error.ts';
import { idSchema, secondsSchema } from './ids.ts';
import { holdAdding } from './members.ts';
import { nowSeconds } from './now-seconds.ts';

/** A time in the future would also refuse new sign-ins. */
const AHEAD_SECONDS_MAX = 60;

const revocation = z.strictObject({
  userId: idSchema,
  workspaceId: idSchema.optional(),
  validFrom: secondsSchema.optional(),
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
  const { userId, workspaceId, validFrom: given } = requireInput(revocation, input);
  const now = await nowSeconds(db.kysely);
  const validFrom = given ?? now + 1;
  if (validFrom > now + AHEAD_SECONDS_MAX)
    throw new AdminError('invalid_input', 'validFrom: expected Unix seconds, at most 60 from now');
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
    await holdAdding({ kysely: tx });
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
