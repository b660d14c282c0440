import type { z } from 'zod';
import { requireManager } from '../callers/caller.ts';
import { jsonOperation, type Operation } from '../operation.ts';
import { PageQuery, renderPage } from '../page.ts';
import { type Assignable, assign, KEYS, listAssignments, MEMBERS, unassign } from './queries.ts';
import {
  AssignedCount,
  KeyAssignmentPage,
  KeyAssignmentQuery,
  KeySelection,
  MemberAssignmentPage,
  MemberAssignmentQuery,
  MemberSelection,
  UnassignedCount,
} from './shape.ts';

interface Kind<Selection extends z.ZodType> {
  readonly of: Assignable;
  readonly noun: 'Key' | 'Member';
  readonly page: z.ZodType;
  readonly selection: Selection;
  /** The field of the selection that lists them. */
  readonly field: keyof z.input<Selection> & string;
  readonly targets: (selection: z.output<Selection>) => readonly string[];
  /** Of the list of all assignments, with the filter by target. */
  readonly query: z.ZodType<{
    offset: number;
    limit: number;
    key_hash?: string | undefined;
    user_id?: string | undefined;
  }>;
}

const ofKeys = operationsOf({
  of: KEYS,
  noun: 'Key',
  page: KeyAssignmentPage,
  selection: KeySelection,
  field: 'key_hashes',
  targets: ({ key_hashes }) => key_hashes,
  query: KeyAssignmentQuery,
});

const ofMembers = operationsOf({
  of: MEMBERS,
  noun: 'Member',
  page: MemberAssignmentPage,
  selection: MemberSelection,
  field: 'member_user_ids',
  targets: ({ member_user_ids }) => member_user_ids,
  query: MemberAssignmentQuery,
});

export const ASSIGNMENT_OPERATIONS: readonly Operation[] = [...ofKeys, ...ofMembers];

function operationsOf<Selection extends z.ZodType>(kind: Kind<Selection>): readonly Operation[] {
  const { of, noun, page, selection, field, targets } = kind;
  const common = { family: 'Guardrails', permit: requireManager } as const;
  const ofOne = `/guardrails/{id}/assignments/${of.plural}`;

  return [
    jsonOperation({
      ...common,
      operationId: `listGuardrail${noun}Assignments`,
      method: 'GET',
      path: ofOne,
      summary: `List a guardrail's ${of.plural}`,
      description: 'Newest first.',
      returns: 'A page of assignments.',
      query: PageQuery,
      result: page,
      refusals: [404],
      invalidExample: { query: 'limit=101' },
      async run({ principal, id, query }, { db }) {
        return renderPage(
          await listAssignments(db, principal, of, { ...query, guardrailId: id }),
          renderAssignment,
        );
      },
    }),
    jsonOperation({
      ...common,
      operationId: `bulkAssign${noun}s`,
      method: 'POST',
      path: ofOne,
      summary: `Assign a guardrail to ${of.plural}`,
      description: `A target with another guardrail is moved. At most 1000 at once, all or nothing: if one of the ${of.plural} does not belong to the account, nothing is assigned and the answer is 400. Repeats count once; targets that already have the guardrail count as assigned.`,
      returns: 'The number of assigned targets.',
      body: selection,
      result: AssignedCount,
      refusals: [404],
      invalidExample: { body: { [field]: [] } },
      async run({ principal, id, body }, { db }) {
        const order = { guardrailId: id, targets: targets(body), assignedBy: principal.userId };
        return { assigned_count: await assign(db, principal, of, order) };
      },
    }),
    jsonOperation({
      ...common,
      operationId: `bulkUnassign${noun}s`,
      method: 'POST',
      path: `${ofOne}/remove`,
      summary: `Remove a guardrail from ${of.plural}`,
      description: `At most 1000 at once. Targets without the guardrail are not counted.`,
      returns: 'The number of removed assignments.',
      body: selection,
      result: UnassignedCount,
      refusals: [404],
      invalidExample: { body: { [field]: [] } },
      async run({ principal, id, body }, { db }) {
        const order = { guardrailId: id, targets: targets(body) };
        return { unassigned_count: await unassign(db, principal, of, order) };
      },
    }),
    jsonOperation({
      ...common,
      operationId: `list${noun}Assignments`,
      method: 'GET',
      path: `/guardrails/assignments/${of.plural}`,
      summary: `List all assignments to ${of.plural}`,
      description: `Of all guardrails, newest first; with a filter, the assignment of one of the ${of.plural}, which has at most one.`,
      returns: 'A page of assignments.',
      query: kind.query,
      result: page,
      invalidExample: { query: 'limit=101' },
      async run({ principal, query }, { db }) {
        const { offset, limit, key_hash, user_id } = query;
        const wanted = { offset, limit, target: key_hash ?? user_id };
        return renderPage(await listAssignments(db, principal, of, wanted), renderAssignment);
      },
    }),
  ];
}

/** As it is shown, to a key or to a member alike. */
function renderAssignment(row: { readonly created_at: Date }) {
  return { ...row, created_at: row.created_at.toISOString() };
}
