import { sql } from 'kysely';
import type { Database } from '../../database.ts';
import { AdminError, unlessAdminError } from './admin-error.ts';
import {
  type AddedSigningKey,
  type RotateInput,
  rotateSigningKey,
  rotateSigningKeyIn,
} from './signing-keys.ts';

/** Interns, or keys, in one transaction. */
const BATCH = 100;

/** The keys that were made before a time, in one organization or in all. */
export interface MadeBefore {
  readonly before: Date;
  readonly organizationId?: string | undefined;
  /** Called after each transaction with the total so far. */
  readonly onProgress?: ((done: number) => void) | undefined;
}

/** A time after that of every key made so far, by the clock of the database. */
export async function afterEveryKey(db: Database): Promise<Date> {
  const { rows } = await sql<{
    at: Date;
  }>`select clock_timestamp() + interval '2 milliseconds' as at`.execute(db.kysely);
  return new Date(rows[0]?.at ?? Number.NaN);
}

/**
 * Revokes every key made before `before`, as `revokeSigningKey` does. Can be repeated after an interruption: it goes on
 * where it ended.
 *
 * @returns how many it revoked
 */
export async function revokeSigningKeys(db: Database, keys: MadeBefore): Promise<number> {
  for (let revoked = 0; ; ) {
    const { numAffectedRows = 0n } = await sql`
      update signing_keys set retired_at = now() where id in (
        select id from signing_keys
        where retired_at is null and ${isOld(keys)}
        order by id limit ${BATCH} for update
      )`.execute(db.kysely);
    if (numAffectedRows === 0n) return revoked;
    revoked += Number(numAffectedRows);
    keys.onProgress?.(revoked);
  }
}

export interface Rotated {
  readonly rotated: number;
  /** Why an intern has no new key. */
  readonly failed: ReadonlyArray<{ readonly internId: string; readonly error: AdminError }>;
}

/**
 * Rotates every intern all of whose keys, revoked ones included, were made before `before`. Can be repeated after an
 * interruption with the same time: an intern that has its new key is left out. An intern that cannot be rotated is
 * reported, and the others go on.
 */
export async function rotateSigningKeys(
  db: Database,
  { before, organizationId, onProgress }: MadeBefore,
  key: Omit<RotateInput, 'internId'>,
): Promise<Rotated> {
  const failed: { internId: string; error: AdminError }[] = [];
  for (let rotated = 0, after = ''; ; ) {
    const { rows } = await sql<{ id: string }>`
      select id from interns
      where id > ${after} and ${organizationId === undefined ? sql`true` : sql`organization_id = ${organizationId}`}
        and exists (select from signing_keys where intern_id = interns.id)
        and not exists (select from signing_keys where intern_id = interns.id and created_at >= ${before})
      order by id limit ${BATCH}`.execute(db.kysely);
    const last = rows.at(-1);
    if (last === undefined) return { rotated, failed };
    after = last.id;
    const ids = rows.map(({ id }) => id);
    if (await isRotatedTogether(db, ids, key)) rotated += ids.length;
    else {
      for (const internId of ids) {
        const outcome = await unlessAdminError(rotateSigningKey(db, { ...key, internId }));
        if (outcome instanceof AdminError) failed.push({ internId, error: outcome });
        else rotated += 1;
      }
    }
    onProgress?.(rotated);
  }
}

/** All in one transaction, or none if one of them cannot be rotated. */
async function isRotatedTogether(
  db: Database,
  internIds: readonly string[],
  key: Omit<RotateInput, 'internId'>,
): Promise<boolean> {
  const outcome = await unlessAdminError(
    db.kysely.transaction().execute(async (tx) => {
      const added: AddedSigningKey[] = [];
      for (const internId of internIds) added.push(await rotateSigningKeyIn(tx, { ...key, internId }));
      return added;
    }),
  );
  return !(outcome instanceof AdminError);
}

const isOld = ({ before, organizationId }: MadeBefore) =>
  sql`created_at < ${before} and ${
    organizationId === undefined
      ? sql`true`
      : sql`intern_id in (select id from interns where organization_id = ${organizationId})`
  }`;
