import { sql } from 'kysely';
import type { Database } from '../database.ts';

/** How far before and after now to look for expiring keys, in seconds. */
export const OUTLOOK_SECONDS = 30 * 24 * 3600;

/** The interns whose last signing key expires or expired within 30 days. Retired keys do not count. */
export interface KeyOutlook {
  /** Interns whose last key has expired and that have no other valid key. */
  readonly expired: number;
  /** When the next intern will be without a key, in Unix seconds; undefined if none will be. */
  readonly nextExpiry: number | undefined;
}

/**
 * The last keys of interns that expire within `seconds` before or after `at` without a successor: no other key of the
 * intern is valid at that expiry or, if it has passed, at `at`. Reads one range of the index on the expiry:
 * `offset 0` keeps PostgreSQL 18 from joining by a hash of all keys.
 */
const endingKeys = (at: number, seconds: number) => sql`
  select ending.id, ending.intern_id, ending.expires_at from signing_keys ending
  where ending.retired_at is null
    and ending.expires_at between ${at - seconds} and ${at + seconds}
    and not exists (
      select from signing_keys successor
      where successor.intern_id = ending.intern_id and successor.retired_at is null
        and successor.not_before <= greatest(ending.expires_at, ${at})
        and (successor.expires_at is null or successor.expires_at > greatest(ending.expires_at, ${at}))
      offset 0
    )`;

/** @param options `at`: Unix seconds */
export async function keyOutlook(db: Database, { at }: { at: number }): Promise<KeyOutlook> {
  const { rows } = await sql<{ expired: string | number; next_expiry: string | number | null }>`
    select count(distinct intern_id) filter (where expires_at <= ${at}) as expired,
      min(expires_at) filter (where expires_at > ${at}) as next_expiry
    from (${endingKeys(at, OUTLOOK_SECONDS)}) as ending`.execute(db.kysely);
  const { expired = 0, next_expiry: next = null } = rows[0] ?? {};
  return { expired: Number(expired), nextExpiry: next === null ? undefined : Number(next) };
}

/** A key that expires soon or has expired recently, without a successor. */
export interface DueKey {
  readonly id: string;
  readonly internId: string;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/**
 * The interns to rotate: their last key expires within `seconds`, or expired at most as long ago. Earliest expiry
 * first.
 */
export async function dueKeys(
  db: Database,
  { at, seconds }: { readonly at: number; readonly seconds: number },
): Promise<DueKey[]> {
  const { rows } = await sql<{ id: string; intern_id: string; expires_at: string | number }>`
    select id, intern_id, expires_at from (${endingKeys(at, seconds)}) as ending order by expires_at, id`.execute(
    db.kysely,
  );
  return rows.map((row) => ({ id: row.id, internId: row.intern_id, expiresAt: Number(row.expires_at) }));
}
