import { sql } from 'kysely';
import type { Database } from '../database.ts';

/** How far before and after now an end of a key is looked for. */
export const OUTLOOK_SECONDS = 30 * 24 * 3600;

/** Which interns run out of signing keys, or have, within 30 days. Retired keys are none. */
export interface KeyOutlook {
  /** Interns whose last key has ended, and to whom no other is good now. */
  readonly expired: number;
  /** Unix seconds at which the next intern will be without a key; undefined when none will be. */
  readonly nextExpiry: number | undefined;
}

/**
 * One range of an index by the end of keys. A key counts when nothing succeeds it: no other key of its intern is good
 * at its end, or, where that has passed, now.
 *
 * @param options `at`: Unix seconds
 */
export async function keyOutlook(db: Database, { at }: { at: number }): Promise<KeyOutlook> {
  const { rows } = await sql<{ expired: string | number; next_expiry: string | number | null }>`
    select count(distinct ending.intern_id) filter (where ending.expires_at <= ${at}) as expired,
      min(ending.expires_at) filter (where ending.expires_at > ${at}) as next_expiry
    from signing_keys ending
    where ending.retired_at is null
      and ending.expires_at between ${at - OUTLOOK_SECONDS} and ${at + OUTLOOK_SECONDS}
      and not exists (
        select from signing_keys successor
        where successor.intern_id = ending.intern_id and successor.retired_at is null
          and successor.not_before <= greatest(ending.expires_at, ${at})
          and (successor.expires_at is null or successor.expires_at > greatest(ending.expires_at, ${at}))
      )`.execute(db.kysely);
  const { expired = 0, next_expiry: next = null } = rows[0] ?? {};
  return { expired: Number(expired), nextExpiry: next === null ? undefined : Number(next) };
}
