import type { Kysely } from 'kysely';
import type { Schema } from './schema.ts';

/**
 * The group roles that `migrate` creates and grants to. Each service works as exactly one of the first two; an operator's login is
 * a member of `ori_operator`, and may read the audit alone as a member of `ori_auditor`.
 */
export type StoreRole = 'ori_signer' | 'ori_management' | 'ori_operator' | 'ori_auditor';

export const SERVICE_ROLES: readonly StoreRole[] = ['ori_signer', 'ori_management'];
export const STORE_ROLES: readonly StoreRole[] = [...SERVICE_ROLES, 'ori_operator', 'ori_auditor'];

/** One way into the database. Every failure to reach it is thrown as `StoreUnavailable`. */
export interface Database {
  readonly kysely: Kysely<Schema>;
  /** Ends every connection; waits at most a second for a server that does not answer. */
  close(): Promise<void>;
  /** The current state of its pool; absent without a pool. */
  readonly connections?: () => ConnectionCounts;
}

export interface ConnectionCounts {
  readonly open: number;
  /** Of these, idle. */
  readonly idle: number;
  /** Callers that wait for one. */
  readonly waiting: number;
}

export function requireStoreRole(role: string): StoreRole {
  const known = STORE_ROLES.find((candidate) => candidate === role);
  if (known === undefined) throw new TypeError(`role: expected one of ${STORE_ROLES.join(', ')}`);
  return known;
}
