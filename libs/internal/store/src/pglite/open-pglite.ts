import type { PGlite } from '@electric-sql/pglite';
import { Kysely, PGliteDialect } from 'kysely';
import type { Database } from '../database.ts';
import type { Schema } from '../schema.ts';
import { requireStoreRole, type StoreRole } from '../store-role.ts';
import { shareAs } from './role-view.ts';

/** PostgreSQL inside this process: one engine, one connection, and a view of it for each role. */
export interface EmbeddedDatabase extends Database {
  /**
   * The same engine, with every statement and transaction as that role (`SET LOCAL ROLE`). Closing the view does not
   * close the engine, which belongs to the database that the view came from.
   */
  as(role: StoreRole): Database;
}

/** Starts the embedded engine, in memory (about 0.5 s). Call `close()`: an open engine keeps Node alive. */
export async function openPglite(): Promise<EmbeddedDatabase> {
  const engine = await startEngine();
  return {
    ...viewOf(engine),
    as: (role) => ({ ...viewOf(engine, requireStoreRole(role)), close: async () => {} }),
    async close() {
      if (!engine.closed) await engine.close();
    },
  };
}

function viewOf(engine: PGlite, role?: StoreRole): Omit<Database, 'close'> {
  const view = shareAs(engine, role);
  const kysely = new Kysely<Schema>({ dialect: new PGliteDialect({ pglite: view }) });
  return {
    kysely,
    transaction: (work) => kysely.transaction().execute(work),
    async query<Row>(text: string, values: readonly unknown[] = []) {
      return (await view.query<Row>(text, [...values], {})).rows;
    },
  };
}

async function startEngine(): Promise<PGlite> {
  // Imported on demand: a service on PostgreSQL does not need it.
  const { PGlite } = await import('@electric-sql/pglite');
  // An empty cluster as initdb creates it. Running initdb would take longer than the rest of the start.
  const { dataDir: emptyCluster } = await import('@electric-sql/pglite-prepopulatedfs');
  return PGlite.create({ loadDataDir: await emptyCluster() });
}
