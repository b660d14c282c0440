import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { bind } from './bind.ts';
import * as keyQueries from './management/api-keys.ts';
import {
  type Assignable,
  type AssignmentRow,
  assign,
  KEYS,
  listAssignments,
  MEMBERS,
  unassign,
} from './management/assignments.ts';
import * as credentialQueries from './management/byok.ts';
import * as callerQueries from './management/callers.ts';
import * as dpopProofQueries from './management/dpop-proofs.ts';
import { guardrailQueries } from './management/guardrails.ts';
import { internQueries } from './management/interns.ts';
import { memberQueries } from './management/members.ts';
import { once, TooManyAnswers } from './management/once.ts';
import { type Account, inTransaction } from './management/tenant.ts';
import * as workspaceQueries from './management/workspace-records.ts';

export { AdminError } from './admin/admin-error.ts';
export type { ApiKeyRow } from './management/api-keys.ts';
export type { CredentialRow } from './management/byok.ts';
export type { ApiKeyCaller, Person } from './management/callers.ts';
export { type GuardrailColumns, type GuardrailRow, GuardrailsTooLarge } from './management/guardrails.ts';
export type { InternRow } from './management/interns.ts';
export type { MemberRow, PersonRow } from './management/members.ts';
export type { WorkspaceRow } from './management/workspace-records.ts';
export { TooManyAnswers };

/**
 * The database calls of the management service's operations. Each is one transaction that sees its tenant's rows only, or
 * part of the transaction `db`.
 */
function operationQueries(db: Database) {
  return {
    ...bind(db, { ...callerQueries, ...internQueries, ...credentialQueries, ...guardrailQueries }),
    ...bind(db, { ...keyQueries, ...workspaceQueries, ...memberQueries, ...dpopProofQueries }),
    keyAssignments: assignmentQueries(db, KEYS),
    memberAssignments: assignmentQueries(db, MEMBERS),
  };
}

export type OperationQueries = ReturnType<typeof operationQueries>;

/**
 * All queries of the management service, under the role `ori_management`. Throws `StoreUnavailable` if the database does
 * not answer.
 */
export function managementQueries(db: Database) {
  return {
    ...operationQueries(db),
    /** Runs work in one transaction, in which reading a record locks it. */
    whileLocked: <Result>(work: (queries: OperationQueries) => Promise<Result>): Promise<Result> =>
      inTransaction(db, (trx) => work(operationQueries({ ...db, kysely: trx, locksRecords: true }))),
    /** See `once`. */
    once: (account: Account, keyHash: string, work: (queries: OperationQueries) => Promise<string>) =>
      once(db, account, keyHash, (within) => work(operationQueries(within))),
    /** Resolves if the database answers and is migrated. */
    ping: async () => {
      await sql`select id from guardrails limit 0`.execute(db.kysely);
    },
  };
}

function assignmentQueries<Row extends AssignmentRow>(db: Database, kind: Assignable<Row>) {
  return {
    list: (account: Account, page: Parameters<typeof listAssignments>[3]) =>
      listAssignments(db, kind, account, page),
    assign: (account: Account, order: Parameters<typeof assign>[3]) => assign(db, kind, account, order),
    unassign: (account: Account, order: Parameters<typeof unassign>[3]) => unassign(db, kind, account, order),
  };
}

export type ManagementQueries = ReturnType<typeof managementQueries>;
