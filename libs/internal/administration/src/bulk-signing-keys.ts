import type { Database } from '@ori/store/database';
import { ENDING_KEYS, EXPIRY_SECONDS } from '@ori/store/signer';
import { AdminError, unlessAdminError } from '@ori/store/writes/admin-error';
import { sql } from 'kysely';
import { nowSeconds } from './now-seconds.ts';
import { type NewSigningKey, rotateSigningKey } from './signing-keys.ts';

/** The keys that were made before a time, in one organization or in all. */
export interface MadeBefore {
  readonly before: Date;
  readonly organizationId?: string | undefined;
}

const among = (organizationId: string | undefined) =>
  organizationId === undefined ? sql`true` : sql`interns.organization_id = ${organizationId}`;

/** A time after that of every key made so far, by the clock of the database. */
export async function afterEveryKey(db: Database): Promise<Date> {
  const { rows } = await sql<{
    at: Date;
  }>`select clock_timestamp() + interval '2 milliseconds' as at`.execute(db.kysely);
  return new Date(rows[0]?.at ?? Number.NaN);
}

/** Revokes every key made before `before`, as `revokeSigningKey` does, and returns how many it revoked. */
export async function revokeSigningKeys(
  db: Database,
  { before, organizationId }: MadeBefore,
): Promise<number> {
  const { numAffectedRows = 0n } = await sql`
    update signing_keys set retired_at = now() from interns
    where interns.id = intern_id and retired_at is null and signing_keys.created_at < ${before}
      and ${among(organizationId)}`.execute(db.kysely);
  return Number(numAffectedRows);
}

/**
 * The interns all of whose keys, revoked ones included, were made before `before`: an intern that was rotated since is not
 * among them.
 */
export async function internsWithKeysBefore(
  db: Database,
  { before, organizationId }: MadeBefore,
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from interns
    where ${among(organizationId)}
      and exists (select from signing_keys where intern_id = interns.id)
      and not exists (select from signing_keys where intern_id = interns.id and created_at >= ${before})
    order by id`.execute(db.kysely);
  return rows.map(({ id }) => id);
}

export interface Rotated {
  readonly rotated: number;
  /** Why an intern has no new key. */
  readonly failed: ReadonlyArray<{ readonly internId: string; readonly error: AdminError }>;
}

/**
 * Rotates each intern in a transaction of its own. One that cannot be rotated is reported, and the others go on.
 *
 * @param onProgress called after each with the number of those that were rotated
 */
export async function rotateSigningKeys(
  db: Database,
  internIds: readonly string[],
  key: Omit<NewSigningKey, 'internId'>,
  onProgress: (rotated: number) => void = () => {},
): Promise<Rotated> {
  const failed: { internId: string; error: AdminError }[] = [];
  let rotated = 0;
  for (const internId of internIds) {
    const outcome = await unlessAdminError(rotateSigningKey(db, { ...key, internId }));
    if (outcome instanceof AdminError) failed.push({ internId, error: outcome });
    else rotated += 1;
    onProgress(rotated);
  }
  return { rotated, failed };
}

/** A key that expires soon or expired recently, without a successor. */
export interface DueKey {
  readonly id: string;
  readonly internId: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/**
 * The interns to rotate: their last key expires within `seconds`, or expired at most as long ago, or as long as the signer
 * counts it. Earliest expiry first.
 *
 * @param due `at`: Unix seconds; default: now, by the clock of the database
 */
export async function dueKeys(
  db: Database,
  due: { readonly at?: number; readonly seconds: number },
): Promise<DueKey[]> {
  const at = due.at ?? (await nowSeconds(db.kysely));
  return await db.query<DueKey>(
    `select id, intern_id as "internId", expires_at as "expiresAt" from (${ENDING_KEYS}) as ending
     where expires_at <= $3 order by expires_at, id`,
    [at, Math.max(due.seconds, EXPIRY_SECONDS), at + due.seconds],
  );
}
