import type { PGlite, Transaction } from '@electric-sql/pglite';
import { unavailableFrom } from '@ori/postgres/store-unavailable';
import { Kysely, PGliteDialect, type PGliteTransaction, type PGlite as SharedEngine } from 'kysely';
import type { Database } from './database.ts';
import type { StoreRole } from './privileges/grant.ts';
import type { Schema } from './schema.ts';
import { requireStoreRole } from './store-role.ts';

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
  // By default PostgreSQL fills 128 MB, which hold each page of a small database a second time.
  const startParams = [...PGlite.defaultStartParams, '-c', 'shared_buffers=4MB'];
  return PGlite.create({ loadDataDir: await emptyCluster(), startParams });
}

async function asStoreError<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw unavailableFrom(error) ?? error;
  }
}

/**
 * The interface that Kysely needs, for an engine that several Kysely instances share. With a role, each statement
 * outside a transaction becomes its own transaction that begins with `SET LOCAL ROLE`, so no statement of one role can
 * run as another.
 */
function shareAs(engine: PGlite, role?: StoreRole): SharedEngine {
  const transaction = <T>(body: (tx: PGliteTransaction) => Promise<T>): Promise<T> =>
    asStoreError(async () => {
      const inRole = async (tx: Transaction): Promise<T> => {
        if (role !== undefined) await tx.query(`set local role ${role}`);
        return await body(tx);
      };
      // PGlite returns undefined for a transaction that was rolled back by hand; Kysely's never are.
      return (await engine.transaction(inRole)) as T;
    });
  return {
    closed: false, // the error of the engine instead of the one that Kysely throws for a closed engine
    get ready() {
      return engine.ready;
    },
    waitReady: engine.waitReady,
    query: (text, parameters, options) =>
      role === undefined
        ? asStoreError(() => engine.query(text, parameters, options))
        : transaction((tx) => tx.query(text, parameters, options)),
    transaction,
    close: async () => {}, // the engine belongs to `openPglite`
  };
}
