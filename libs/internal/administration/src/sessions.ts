import type { Database } from '@ori/store/database';
import { AdminError, requireInput } from '@ori/store/writes/admin-error';
import { idSchema, secondsSchema } from '@ori/store/writes/ids';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { nowSeconds } from './now-seconds.ts';

/** A time in the future would also refuse new sign-ins. */
const AHEAD_SECONDS_MAX = 60;

const revocation = z.strictObject({ userId: idSchema, validFrom: secondsSchema.optional() });

/** From which time on the sessions of a user are valid. */
export interface SessionsValidFrom {
  /** Unix seconds; null if none are revoked. */
  readonly validFrom: number | null;
  readonly changed: boolean;
}

/**
 * Revokes the user's sessions that began before `validFrom` (Unix seconds), in every workspace, also one that the user joins
 * later. The default is the next whole second: sessions are dated in whole seconds, and one that began in this second is
 * revoked too. A time earlier than the stored one changes nothing.
 *
 * @throws AdminError `not_found`
 */
export async function revokeSessions(
  db: Database,
  input: z.input<typeof revocation>,
): Promise<SessionsValidFrom> {
  const { userId, validFrom: given } = requireInput(revocation, input);
  const now = await nowSeconds(db.kysely);
  const validFrom = given ?? now + 1;
  if (validFrom > now + AHEAD_SECONDS_MAX)
    throw new AdminError('invalid_input', 'validFrom: expected Unix seconds, at most 60 from now');
  return await changeSessions(db, userId, sql`greatest(former, nullif(${validFrom}::bigint, 0))`);
}

/** Undoes {@link revokeSessions}: sessions count again, whenever they began. @throws AdminError `not_found` */
export async function clearRevokedSessions(
  db: Database,
  input: { readonly userId: string },
): Promise<SessionsValidFrom> {
  return await changeSessions(db, requireInput(revocation, input).userId, sql`null`);
}

async function changeSessions(
  { kysely }: Database,
  userId: string,
  next: RawBuilder<unknown>,
): Promise<SessionsValidFrom> {
  const { rows } = await sql<SessionsValidFrom>`
    update users set sessions_valid_from = ${next}
    from (select id, sessions_valid_from as former from users where id = ${userId} for update) as found
    where users.id = found.id
    returning sessions_valid_from as "validFrom", sessions_valid_from is distinct from former as changed`.execute(
    kysely,
  );
  if (rows[0] === undefined) throw new AdminError('not_found', `no user ${userId}`);
  return rows[0];
}
