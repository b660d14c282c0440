import type { Database } from '@ori/store/database';
import { sql } from 'kysely';

/**
 * How many queries of this database wait for a lock. Ask outside the transaction that holds it: within one, PostgreSQL shows
 * the activity of its first look.
 */
export async function waitingForLocks({ kysely }: Database): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(kysely);
  return rows.length;
}
