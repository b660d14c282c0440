import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import type { Database } from '../database.ts';
import type { Schema } from '../schema.ts';
import { openPool, type PostgresOptions } from './open-pool.ts';

/** The same as `openPool`, with kysely for the services that have many queries. */
export function openPostgres(options: PostgresOptions): Database {
  const { pool, query, close, connections } = openPool(options);
  // Of a client, Kysely uses only `query` and `release`; its types have cursors too.
  const dialect = new PostgresDialect({ pool: pool as unknown as PostgresPool });
  const kysely = new Kysely<Schema>({ dialect });
  return { kysely, query, transaction: (work) => kysely.transaction().execute(work), close, connections };
}
