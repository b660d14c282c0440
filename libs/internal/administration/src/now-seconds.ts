import type { Schema } from '@ori/store/schema';
import { type Kysely, sql } from 'kysely';

/** Unix seconds by the clock of the database, to which the signers hold theirs; that of an operator's machine may be wrong. */
export async function nowSeconds(db: Kysely<Schema>): Promise<number> {
  const now = sql<{ now: number }>`select floor(extract(epoch from clock_timestamp()))::float8 as now`;
  return (await now.execute(db)).rows[0]?.now ?? Number.NaN;
}
