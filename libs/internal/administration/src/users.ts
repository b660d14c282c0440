import type { Database, Handle } from '@ori/store/database';
import { AdminError, requireInput, translateConstraints } from '@ori/store/writes/admin-error';
import { idSchema, nameSchema, newId } from '@ori/store/writes/ids';
import { sql } from 'kysely';
import { z } from 'zod';
import { changeRow } from './change-row.ts';

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

const subjectInput = z.strictObject({
  userId: idSchema,
  issuer: z.url({ protocol: /^https?$/, error: 'expected an http(s) address' }).max(2048),
  subject: subjectSchema,
});

/** With a subject at an issuer, as `addSubject` adds it: both or neither. */
export async function createUser(
  db: Handle,
  { issuer, subject, ...input }: z.input<typeof newUser> & { issuer?: string; subject?: string | undefined },
): Promise<{ id: string; issuer?: string; subject?: string }> {
  const { id = newId('user'), name, email = null } = requireInput(newUser, input);
  if (issuer === undefined || subject === undefined) {
    await translateConstraints('user', () =>
      db.kysely.insertInto('users').values({ id, name, email }).execute(),
    );
    return { id };
  }
  const people = [{ id, name, email, subject }];
  await db.kysely.transaction().execute((trx) => createPeople({ kysely: trx }, people, issuer));
  return { id, issuer, subject };
}

/**
 * Accepts tokens of `issuer` (compared byte for byte) with this `sub` as those of the user. A proof contains the
 * subject without its issuer, so no other user may have the same one at another issuer.
 */
export async function addSubject(db: Database, input: z.input<typeof subjectInput>): Promise<void> {
  const { userId, issuer, subject } = requireInput(subjectInput, input);
  await db.kysely.transaction().execute((tx) => nameSubjects({ kysely: tx }, [{ userId, subject }], issuer));
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
  const users = people.map(({ id, name, email }) => ({ id, name, email }));
  await translateConstraints('user', () => db.kysely.insertInto('users').values(users).execute());
  const named = people.map(({ id, subject }) => ({ userId: id, subject }));
  await nameSubjects(db, named, issuer);
}

/** Within a transaction. */
async function nameSubjects(
  { kysely }: Handle,
  named: readonly { readonly userId: string; readonly subject: string }[],
  issuer: string,
): Promise<void> {
  const subjects = named.map(({ subject }) => subject).sort();
  await sql`
    select pg_advisory_xact_lock(hashtextextended(subject, 0))
    from unnest(${subjects}::text[]) as wanted (subject)`.execute(kysely);
  const owners = new Map(named.map(({ userId, subject }) => [subject, userId]));
  const { rows } = await sql<{ subject: string; user_id: string }>`
    select subject, user_id from user_subjects
    where subject = any (${subjects}::text[]) and issuer <> ${issuer}`.execute(kysely);
  const other = rows.find(({ subject, user_id }) => owners.get(subject) !== user_id);
  if (other !== undefined) {
    const message = `subject: ${other.user_id} has the same one at another issuer, and daemons could not tell them apart`;
    throw new AdminError('conflict', message);
  }
  const values = named.map(({ userId, subject }) => ({ issuer, subject, user_id: userId }));
  await translateConstraints('subject', () => kysely.insertInto('user_subjects').values(values).execute());
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
