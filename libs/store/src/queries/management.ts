import { sql } from 'kysely';
import type { Database } from '../database.ts';
import {
  type Assignable,
  type AssignmentRow,
  assign,
  KEYS,
  listAssignments,
  MEMBERS,
  unassign,
} from './management/assignments.ts';
import { changeCredential, listCredentials, unknownApiKeys } from './management/byok.ts';
import { findApiKeyCaller, findPerson } from './management/callers.ts';
import {
  changeGuardrail,
  createGuardrail,
  deleteGuardrail,
  findGuardrail,
  listGuardrails,
} from './management/guardrails.ts';
import { findIcon, listInterns } from './management/interns.ts';
import type { Account } from './management/tenant.ts';

export type { CredentialRow } from './management/byok.ts';
export type { GuardrailColumns, GuardrailRow } from './management/guardrails.ts';
export type { InternRow } from './management/interns.ts';

type Rest<Query> = Query extends (db: Database, ...rest: infer Arguments) => unknown ? Arguments : never;

/**
 * Everything the management service asks, under the role `ori_management`. Each call is one transaction that sees
 * its tenant's rows only, and throws `StoreUnavailable` when there is no answer.
 */
export function managementQueries(db: Database) {
  return {
    apiKeyCaller: (...rest: Rest<typeof findApiKeyCaller>) => findApiKeyCaller(db, ...rest),
    person: (...rest: Rest<typeof findPerson>) => findPerson(db, ...rest),

    listInterns: (...rest: Rest<typeof listInterns>) => listInterns(db, ...rest),
    icon: (...rest: Rest<typeof findIcon>) => findIcon(db, ...rest),

    listCredentials: (...rest: Rest<typeof listCredentials>) => listCredentials(db, ...rest),
    changeCredential: (...rest: Rest<typeof changeCredential>) => changeCredential(db, ...rest),
    unknownApiKeys: (...rest: Rest<typeof unknownApiKeys>) => unknownApiKeys(db, ...rest),

    listGuardrails: (...rest: Rest<typeof listGuardrails>) => listGuardrails(db, ...rest),
    createGuardrail: (...rest: Rest<typeof createGuardrail>) => createGuardrail(db, ...rest),
    guardrail: (...rest: Rest<typeof findGuardrail>) => findGuardrail(db, ...rest),
    changeGuardrail: (...rest: Rest<typeof changeGuardrail>) => changeGuardrail(db, ...rest),
    deleteGuardrail: (...rest: Rest<typeof deleteGuardrail>) => deleteGuardrail(db, ...rest),

    keyAssignments: assignmentQueries(db, KEYS),
    memberAssignments: assignmentQueries(db, MEMBERS),

    /** Succeeds when the database answers and was migrated. */
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
