import type { ConnectionCounts, Statements } from '@ori/postgres/statements';
import type { Kysely, Transaction } from 'kysely';
import type { Schema } from './schema.ts';

/** A handle on the database. Every failure to reach it is thrown as `StoreUnavailable`. */
export interface Database extends Statements {
  readonly kysely: Kysely<Schema>;
  /** Runs work in a transaction of its own. */
  transaction<Result>(work: (trx: Transaction<Schema>) => Promise<Result>): Promise<Result>;
  /** Closes every connection; waits at most a second for a server that does not answer. */
  close(): Promise<void>;
  /** In a transaction that reads a record to decide on a change of it: reading the record locks it. */
  readonly locksRecords?: true;
  /** The current state of its pool; absent without a pool. */
  readonly connections?: () => ConnectionCounts;
}

/** Where a query runs: a database, or a transaction in progress as `{ kysely: trx }`. */
export type Handle = Pick<Database, 'kysely'>;
