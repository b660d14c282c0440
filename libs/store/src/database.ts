import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/** The group roles that `migrate` creates and grants to; a service works as exactly one of them. */
export type StoreRole = 'ori_signer' | 'ori_management';

export const STORE_ROLES: readonly StoreRole[] = ['ori_signer', 'ori_management'];

/** One way into the database. Every failure to reach it is thrown as `StoreUnavailable`. */
export interface Database {
  readonly kysely: Kysely<Schema>;
  /** Ends every connection; waits at most a second for a server that does not answer. */
  close(): Promise<void>;
  /** What its pool has now; absent where there is none. */
  readonly connections?: () => ConnectionCounts;
}

export interface ConnectionCounts {
  readonly open: number;
  /** Of these, in nobody's use. */
  readonly idle: number;
  /** Callers that wait for one. */
  readonly waiting: number;
}

export function requireStoreRole(role: string): StoreRole {
  const known = STORE_ROLES.find((candidate) => candidate === role);
  if (known === undefined) throw new TypeError(`role: expected one of ${STORE_ROLES.join(', ')}`);
  return known;
}
