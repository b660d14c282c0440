import type { z } from 'zod';
import { found, notFound, requireManager } from '../callers/caller.ts';
import { jsonOperation, type Operation } from '../http/operation.ts';
import type { Services } from '../http/services.ts';
import { PageQuery, renderPage } from '../page.ts';
import { Refusal } from '../refusal.ts';
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

type Queries = Services['store']['keyAssignments'] | Services['store']['memberAssignments'];

interface Kind<Selection extends z.ZodType> {
  readonly noun: 'Key' | 'Member';
  readonly segment: 'keys' | 'members';
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
  readonly queries: (store: Services['store']) => Queries;
}

const KEYS = operationsOf({
  noun: 'Key',
  segment: 'keys',
  page: KeyAssignmentPage,
  selection: KeySelection,
  field: 'key_hashes',
  targets: ({ key_hashes }) => key_hashes,
  query: KeyAssignmentQuery,
  queries: (store) => store.keyAssignments,
});

const MEMBERS = operationsOf({
  noun: 'Member',
  segment: 'members',
  page: MemberAssignmentPage,
  selection: MemberSelection,
  field: 'member_user_ids',
  targets: ({ member_user_ids }) => member_user_ids,
  query: MemberAssignmentQuery,
  queries: (store) => store.memberAssignments,
});

export const ASSIGNMENT_OPERATIONS: readonly Operation[] = [...KEYS, ...MEMBERS];

function operationsOf<Selection extends z.ZodType>(kind: Kind<Selection>): readonly Operation[] {
  const { noun, segment, page, selection, field, targets, queries } = kind;
  const common = { family: 'Guardrails', permit: requireManager } as const;
  const ofOne = `/guardrails/{id}/assignments/${segment}`;

  return [
    jsonOperation({
      ...common,
      operationId: `listGuardrail${noun}Assignments`,
      method: 'GET',
      path: ofOne,
      summary: `List a guardrail's ${segment}`,
      description: 'Newest first.',
      returns: 'A page of assignments.',
      query: PageQuery,
      result: page,
      refusals: [404],
      invalidExample: { query: 'limit=101' },
      async run({ principal, id, query }, { store }) {
        const page = await queries(store).list(principal, { ...query, guardrailId: id });
        return renderPage(found(page), renderAssignment);
      },
    }),
    jsonOperation({
      ...common,
      operationId: `bulkAssign${noun}s`,
      method: 'POST',
      path: ofOne,
      summary: `Assign a guardrail to ${segment}`,
      description: `A target with another guardrail is moved. At most 1000 at once, all or nothing: if one of the ${segment} does not belong to the account, nothing is assigned and the answer is 400. Repeats count once; targets that already have the guardrail count as assigned.`,
      returns: 'The number of assigned targets.',
      body: selection,
      result: AssignedCount,
      refusals: [404],
      invalidExample: { body: { [field]: [] } },
      async run({ principal, id, body }, { store }) {
        const outcome = await queries(store).assign(principal, {
          guardrailId: id,
          targets: targets(body),
          assignedBy: principal.userId,
        });
        if (outcome === 'absent') throw notFound();
        if ('unknown' in outcome) {
          const [first] = outcome.unknown;
          throw new Refusal(
            'invalid_parameters',
            `${first} is not one of the account's ${segment}; nothing was assigned.`,
          );
        }
        return { assigned_count: outcome.count };
      },
    }),
    jsonOperation({
      ...common,
      operationId: `bulkUnassign${noun}s`,
      method: 'POST',
      path: `${ofOne}/remove`,
      summary: `Remove a guardrail from ${segment}`,
      description: `At most 1000 at once. Targets without the guardrail are not counted.`,
      returns: 'The number of removed assignments.',
      body: selection,
      result: UnassignedCount,
      refusals: [404],
      invalidExample: { body: { [field]: [] } },
      async run({ principal, id, body }, { store }) {
        const outcome = await queries(store).unassign(principal, {
          guardrailId: id,
          targets: targets(body),
        });
        if (outcome === 'absent') throw notFound();
        return { unassigned_count: outcome.count };
      },
    }),
    jsonOperation({
      ...common,
      operationId: `list${noun}Assignments`,
      method: 'GET',
      path: `/guardrails/assignments/${segment}`,
      summary: `List all assignments to ${segment}`,
      description: `Of all guardrails, newest first; with a filter, the assignment of one of the ${segment}, which has at most one.`,
      returns: 'A page of assignments.',
      query: kind.query,
      result: page,
      invalidExample: { query: 'limit=101' },
      async run({ principal, query }, { store }) {
        const { offset, limit, key_hash, user_id } = query;
        const page = await queries(store).list(principal, { offset, limit, target: key_hash ?? user_id });
        return renderPage(page ?? { rows: [], total: 0 }, renderAssignment);
      },
    }),
  ];
}

/** As it is shown, to a key or to a member alike. */
function renderAssignment(row: { readonly created_at: Date }) {
  return { ...row, created_at: row.created_at.toISOString() };
}
