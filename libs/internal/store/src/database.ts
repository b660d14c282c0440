import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/**
 * The group roles that `migrate` creates and grants to. Each service uses exactly one of the first two. An operator's
 * login is a member of `ori_operator`; a member of `ori_auditor` can only read the audit.
 */
export type StoreRole = 'ori_signer' | 'ori_management' | 'ori_operator' | 'ori_auditor';

export const SERVICE_ROLES: readonly StoreRole[] = ['ori_signer', 'ori_management'];
export const STORE_ROLES: readonly StoreRole[] = [...SERVICE_ROLES, 'ori_operator', 'ori_auditor'];

/** A handle on the database. Every failure to reach it is thrown as `StoreUnavailable`. */
export interface Database {
  readonly kysely: Kysely<Schema>;
  /** Closes every connection; waits at most a second for a server that does not answer. */
  close(): Promise<void>;
  /** In a transaction that reads a record to decide on a change of it: reading the record locks it. */
  readonly locksRecords?: true;
  /** The current state of its pool; absent without a pool. */
  readonly connections?: () => ConnectionCounts;
}

/** Where a query runs: a database, or a transaction in progress as `{ kysely: trx }`. */
export type Handle = Pick<Database, 'kysely'>;

export interface ConnectionCounts {
  readonly open: number;
  /** The idle ones among them. */
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}

export function requireStoreRole(role: string): StoreRole {
  const known = STORE_ROLES.find((candidate) => candidate === role);
  if (known === undefined) throw new TypeError(`role: expected one of ${STORE_ROLES.join(', ')}`);
  return known;
}
