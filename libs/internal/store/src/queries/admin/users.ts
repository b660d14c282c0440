import { sql } from 'kysely';
import { z } from 'zod';
import type { Database, Handle } from '../../database.ts';
import { AdminError, judged, requireInput } from './admin-error.ts';
import { changeRow } from './change-row.ts';
import { idSchema, nameSchema, newId } from './ids.ts';

export const emailSchema = z.email('expected an e-mail address').max(320);

/** Any `sub` an issuer may give (OpenID Connect Core 2: at most 255 ASCII characters), controls excluded. */
export const subjectSchema = z
  .string()
  .regex(/^[\x20-\x7e]{1,255}$/, 'expected 1 to 255 printable ASCII characters');

const newUser = z.strictObject({
  id: idSchema.optional(),
  name: nameSchema,
  email: emailSchema.nullish(),
});

export async function createUser(db: Database, input: z.input<typeof newUser>): Promise<{ id: string }> {
  const { id = newId('user'), name, email = null } = requireInput(newUser, input);
  await judged('user', () => db.kysely.insertInto('users').values({ id, name, email }).execute());
  return { id };
}

const subjectInput = z.strictObject({
  userId: idSchema,
  issuer: z.url({ protocol: /^https?$/, error: 'expected an http(s) address' }).max(2048),
  subject: subjectSchema,
});

/**
 * Accepts tokens of `issuer` (compared byte for byte) with this `sub` as those of the user. A proof contains the
 * subject without its issuer, so no other user may have the same one at another issuer.
 */
export async function addSubject(db: Database, input: z.input<typeof subjectInput>): Promise<void> {
  const { userId, issuer, subject } = requireInput(subjectInput, input);
  await db.kysely.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${subject}, 0))`.execute(tx);
    const other = await tx
      .selectFrom('user_subjects')
      .select('user_id')
      .where('subject', '=', subject)
      .where('issuer', '<>', issuer)
      .where('user_id', '<>', userId)
      .executeTakeFirst();
    if (other !== undefined) {
      const message = `subject: ${other.user_id} has the same one at another issuer, and daemons could not tell them apart`;
      throw new AdminError('conflict', message);
    }
    await judged('subject', () =>
      tx.insertInto('user_subjects').values({ issuer, subject, user_id: userId }).execute(),
    );
  });
}

export interface NewPerson {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
  readonly subject: string;
}

/** Creates users with their subjects, within a transaction, by the rules of `createUser` and `addSubject`. */
export async function createPeople(db: Handle, people: readonly NewPerson[], issuer: string): Promise<void> {
  for (const { id, name, email, subject } of people) {
    requireInput(newUser, { id, name, email });
    requireInput(subjectInput, { userId: id, issuer, subject });
  }
  const subjects = people.map(({ subject }) => subject).sort();
  await sql`
    select pg_advisory_xact_lock(hashtextextended(subject, 0))
    from unnest(${subjects}::text[]) as wanted (subject)`.execute(db.kysely);
  const { rows } = await sql<{ subject: string }>`
    select subject from user_subjects where subject = any (${subjects}::text[]) and issuer <> ${issuer}`.execute(
    db.kysely,
  );
  if (rows[0] !== undefined) {
    throw new AdminError('conflict', `subject: a user has ${rows[0].subject} at another issuer`);
  }
  const users = people.map(({ id, name, email }) => ({ id, name, email }));
  await judged('user', () => db.kysely.insertInto('users').values(users).execute());
  const named = people.map(({ id, subject }) => ({ issuer, subject, user_id: id }));
  await judged('subject', () => db.kysely.insertInto('user_subjects').values(named).execute());
}

export async function removeSubject(
  db: Database,
  { issuer, subject }: { readonly issuer: string; readonly subject: string },
): Promise<void> {
  const subjectOf = sql`issuer = ${issuer} and subject = ${subject}`;
  await changeRow(db, 'such subject', sql`delete from user_subjects where ${subjectOf}`);
}

/**
 * Every signing request of the user is refused within the second for which gate facts are cached, and their keys at once.
 */
export async function disableUser(db: Handle, { userId }: { readonly userId: string }): Promise<void> {
  const disabled = sql`disabled_at = coalesce(disabled_at, now())`;
  await changeRow(db, `user ${userId}`, sql`update users set ${disabled} where id = ${userId}`);
}

export async function enableUser(db: Handle, { userId }: { readonly userId: string }): Promise<void> {
  await changeRow(db, `user ${userId}`, sql`update users set disabled_at = null where id = ${userId}`);
}

/** Deletes subjects, memberships and keys too: the user then gets 404, whereas a disabled one gets 403. */
export async function deleteUser(db: Handle, { userId }: { readonly userId: string }): Promise<void> {
  await changeRow(db, `user ${userId}`, sql`delete from users where id = ${userId}`);
}
