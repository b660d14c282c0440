import { ENDING_KEYS } from '../../signer-sql.ts';
import type { Statements } from '../../statements.ts';

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
  db: Statements,
  { at, seconds }: { readonly at: number; readonly seconds: number },
): Promise<DueKey[]> {
  return await db.query<DueKey>(
    `select id, intern_id as "internId", expires_at as "expiresAt" from (${ENDING_KEYS}) as ending
     order by expires_at, id`,
    [at, seconds],
  );
}
