import { lockFolder } from '@ori/runtime/folder-lock';
import { Kysely, PGliteDialect } from 'kysely';
import { type Database, requireStoreRole, type StoreRole } from '../database.ts';
import type { Schema } from '../schema.ts';
import { type StartedEngine, startOnEmptyCluster } from './empty-cluster.ts';
import { shareAs } from './role-view.ts';

export interface PgliteOptions {
  /** A folder for the data; without it everything is in memory and gone at `close`. */
  readonly dataDir?: string;
  /** For a database in memory: a folder that keeps the empty cluster, with which a later start begins. */
  readonly cacheFolder?: string | undefined;
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
 * Starts the embedded engine (about 1.5 s; 0.5 s where `cacheFolder` keeps a cluster). Whoever opens it must `close()` it: an open engine keeps Node alive.
 *
 * A data folder has one user at a time; the engine itself does not guard it, so a lock file beside it does.
 *
 * @throws Error when another living process has the data folder open
 */
export async function openPglite(options: PgliteOptions = {}): Promise<EmbeddedDatabase> {
  const { dataDir, cacheFolder } = options;
  const unlock = dataDir === undefined ? async () => {} : await lockFolder(dataDir);
  let started: StartedEngine;
  try {
    started = await startEngine(dataDir, cacheFolder);
  } catch (error) {
    await unlock();
    throw error;
  }
  const { engine, kept } = started;
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
      await kept;
      await unlock();
    },
  };
}

async function startEngine(
  dataDir: string | undefined,
  cacheFolder: string | undefined,
): Promise<StartedEngine> {
  if (dataDir === undefined && cacheFolder !== undefined) return startOnEmptyCluster(cacheFolder);
  // Loaded where it is wanted: a service on PostgreSQL starts without it.
  const { PGlite } = await import('@electric-sql/pglite');
  const engine = await PGlite.create(dataDir === undefined ? {} : { dataDir });
  return { engine, kept: Promise.resolve() };
}
