import type { PGlite } from '@electric-sql/pglite';
import { lockFolder } from '@ori/runtime/folder-lock';
import { Kysely, PGliteDialect } from 'kysely';
import { type Database, requireStoreRole, type StoreRole } from '../database.ts';
import type { Schema } from '../schema.ts';
import { shareAs } from './role-view.ts';

export interface PgliteOptions {
  /** A folder for the data; without it, everything is in memory and lost at `close`. */
  readonly dataDir?: string;
}

/** PostgreSQL inside this process: one engine, one connection, and a view of it for each role. */
export interface EmbeddedDatabase extends Database {
  /**
   * The same engine, with every statement and transaction as that role (`SET LOCAL ROLE`). Closing the view does not
   * close the engine, which belongs to the database that the view came from.
   */
  as(role: StoreRole): Database;
}

/**
 * Starts the embedded engine (about 0.5 s in memory, 1.5 s for a new data folder). Call `close()`: an open engine
 * keeps Node alive.
 *
 * Only one process can use a data folder. The engine does not enforce that, so a lock file beside it does.
 *
 * @throws Error if another running process has the data folder open
 */
export async function openPglite(options: PgliteOptions = {}): Promise<EmbeddedDatabase> {
  const { dataDir } = options;
  const unlock = dataDir === undefined ? async () => {} : await lockFolder(dataDir);
  let engine: PGlite;
  try {
    engine = await startEngine(dataDir);
  } catch (error) {
    await unlock();
    throw error;
  }
  const kysely = new Kysely<Schema>({ dialect: new PGliteDialect({ pglite: shareAs(engine) }) });
  return {
    kysely,
    as(role) {
      const view = shareAs(engine, requireStoreRole(role));
      return {
        kysely: new Kysely<Schema>({ dialect: new PGliteDialect({ pglite: view }) }),
        close: async () => {},
      };
    },
    async close() {
      if (!engine.closed) await engine.close();
      await unlock();
    },
  };
}

async function startEngine(dataDir: string | undefined): Promise<PGlite> {
  // Imported on demand: a service on PostgreSQL does not need it.
  const { PGlite } = await import('@electric-sql/pglite');
  if (dataDir !== undefined) return PGlite.create({ dataDir });
  // An empty cluster as initdb creates it. Running initdb would take longer than the rest of the start.
  const { dataDir: emptyCluster } = await import('@electric-sql/pglite-prepopulatedfs');
  return PGlite.create({ loadDataDir: await emptyCluster() });
}
