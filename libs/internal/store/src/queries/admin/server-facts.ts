import { sql } from 'kysely';
import type { Database } from '../../database.ts';

export interface ServerFacts {
  readonly standby: boolean;
  readonly version: string;
  /** Its clock, in milliseconds since the epoch. */
  readonly now: number;
}

export async function readServerFacts(db: Database): Promise<ServerFacts> {
  const { rows } = await sql<ServerFacts>`
    select pg_is_in_recovery() as standby, current_setting('server_version') as version,
      extract(epoch from clock_timestamp())::float8 * 1000 as now`.execute(db.kysely);
  const [facts] = rows;
  if (facts === undefined) throw new TypeError('the server did not describe itself');
  return facts;
}
