import type { PGlite } from '@electric-sql/pglite';
import { Kysely, PGliteDialect } from 'kysely';
import { type Database, requireStoreRole, type StoreRole } from '../database.ts';
import type { Schema } from '../schema.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { shareAs } from './role-view.ts';

export interface PgliteOptions {
  /** A folder for the data; without it everything is in memory and gone at `close`. */
  readonly dataDir?: string;
}

/** PostgreSQL inside this process: one engine, one connection, and a view of it for each role. */
export interface EmbeddedDatabase extends Database {
  /**
   * The same engine, every statement and transaction as that role (`SET LOCAL ROLE`).
   * Closing the view closes nothing: the engine belongs to the database it came from.
   */
  as(role: StoreRole): Database;
}

/**
 * Starts the embedded engine (about 1.5 s). Whoever opens it must `close()` it: an open engine keeps Node alive.
 *
 * A data folder has one user at a time; the engine itself does not guard it, so a lock file beside it does.
 *
 * @throws Error when another living process has the data folder open
 */
export async function openPglite(options: PgliteOptions = {}): Promise<EmbeddedDatabase> {
  const { dataDir } = options;
  const unlock = dataDir === undefined ? async () => {} : await lockDataDir(dataDir);
  let engine: PGlite;
  try {
    // Loaded where it is wanted: a service on PostgreSQL starts without it.
    const { PGlite } = await import('@electric-sql/pglite');
    engine = await PGlite.create(dataDir === undefined ? {} : { dataDir });
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
