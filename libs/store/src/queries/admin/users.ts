import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { Database } from '../../database.ts';
import { AdminError, judged, requireInput } from './admin-error.ts';
import { idSchema, nameSchema, newId } from './ids.ts';

const newUser = z.strictObject({ id: idSchema.optional(), name: nameSchema });

export async function createUser(db: Database, input: z.input<typeof newUser>): Promise<{ id: string }> {
  const { id = newId('user'), name } = requireInput(newUser, input);
  await judged('user', () => db.kysely.insertInto('users').values({ id, name }).execute());
  return { id };
}

const subjectInput = z.strictObject({
  userId: idSchema,
  issuer: z.url({ protocol: /^https?$/, error: 'expected an http(s) address' }).max(2048),
  // Any `sub` an issuer may give (OpenID Connect Core 2: at most 255 ASCII characters), controls excluded.
  subject: z.string().regex(/^[\x20-\x7e]{1,255}$/, 'expected 1 to 255 printable ASCII characters'),
});

/** Accepts tokens of `issuer` (compared byte for byte) with this `sub` as those of the user. */
export async function addSubject(db: Database, input: z.input<typeof subjectInput>): Promise<void> {
  const { userId, issuer, subject } = requireInput(subjectInput, input);
  await judged('subject', () =>
    db.kysely.insertInto('user_subjects').values({ issuer, subject, user_id: userId }).execute(),
  );
}

export async function removeSubject(
  db: Database,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): Promise<void> {
  const { numDeletedRows } = await db.kysely
    .deleteFrom('user_subjects')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw new AdminError('not_found', 'no such subject');
}

/** Every signing request of the user is refused within the second for which gate facts are cached. */
export async function disableUser(db: Database, { userId }: { readonly userId: string }): Promise<void> {
  await setDisabled(db, userId, sql<Date>`coalesce(disabled_at, now())`);
}

export async function enableUser(db: Database, { userId }: { readonly userId: string }): Promise<void> {
  await setDisabled(db, userId, null);
}

/** Deletes subjects and memberships too: the user then gets 404, whereas a disabled one gets 403. */
export async function deleteUser(db: Database, { userId }: { readonly userId: string }): Promise<void> {
  const { numDeletedRows } = await db.kysely.deleteFrom('users').where('id', '=', userId).executeTakeFirst();
  if (numDeletedRows === 0n) throw new AdminError('not_found', `no user ${userId}`);
}

async function setDisabled(db: Database, userId: string, disabledAt: RawBuilder<Date> | null): Promise<void> {
  const { numUpdatedRows } = await db.kysely
    .updateTable('users')
    .set({ disabled_at: disabledAt })
    .where('id', '=', userId)
    .executeTakeFirst();
  if (numUpdatedRows === 0n) throw new AdminError('not_found', `no user ${userId}`);
}
