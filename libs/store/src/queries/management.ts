import { sql } from 'kysely';
import type { Database } from '../database.ts';
import { bind } from './bind.ts';
import {
  type Assignable,
  type AssignmentRow,
  assign,
  KEYS,
  listAssignments,
  MEMBERS,
  unassign,
} from './management/assignments.ts';
import { credentialQueries } from './management/byok.ts';
import { callerQueries } from './management/callers.ts';
import { guardrailQueries } from './management/guardrails.ts';
import { internQueries } from './management/interns.ts';
import type { Account } from './management/tenant.ts';

export type { CredentialRow } from './management/byok.ts';
export type { ApiKeyCaller, Person } from './management/callers.ts';
export { type GuardrailColumns, type GuardrailRow, GuardrailsTooLarge } from './management/guardrails.ts';
export type { InternRow } from './management/interns.ts';

/**
 * All queries of the management service, under the role `ori_management`. Each call is one transaction that sees its
 * tenant's rows only. Throws `StoreUnavailable` if the database does not answer.
 */
export function managementQueries(db: Database) {
  return {
    ...bind(db, { ...callerQueries, ...internQueries, ...credentialQueries, ...guardrailQueries }),
    keyAssignments: assignmentQueries(db, KEYS),
    memberAssignments: assignmentQueries(db, MEMBERS),

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
