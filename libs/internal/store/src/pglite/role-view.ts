import type { PGlite as Engine, Transaction } from '@electric-sql/pglite';
import type { PGliteTransaction, PGlite as SharedEngine } from 'kysely';
import type { StoreRole } from '../store-role.ts';
import { unavailableFrom } from '../store-unavailable.ts';

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
export function shareAs(engine: Engine, role?: StoreRole): SharedEngine {
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
