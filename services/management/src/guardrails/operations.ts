import { GuardrailsTooLarge } from '@ori/store';
import { z } from 'zod';
import { noWorkspace } from '../byok/operations.ts';
import { notFound, requireManager } from '../callers/caller.ts';
import { jsonOperation, type Operation } from '../http/operation.ts';
import { dataOf, renderPage } from '../page.ts';
import { Refusal } from '../refusal.ts';
import { renderGuardrail } from './render.ts';
import {
  Deleted,
  Guardrail,
  GuardrailCreate,
  GuardrailListQuery,
  GuardrailPage,
  GuardrailUpdate,
} from './shape.ts';
import { spreadEnforceZdr } from './zero-data-retention.ts';

const family = 'Guardrails';
const permit = requireManager;
const one = { family, permit, path: '/guardrails/{id}', status: 200 } as const;

const list = jsonOperation({
  operationId: 'listGuardrails',
  family,
  permit,
  method: 'GET',
  path: '/guardrails',
  summary: 'List guardrails',
  description: 'Without `workspace_id`: those of the default workspace. Newest first.',
  returns: 'A page of guardrails.',
  query: GuardrailListQuery,
  status: 200,
  result: GuardrailPage,
  refusals: [],
  invalidExample: { query: 'limit=101' },
  async run({ principal, query }, { store }) {
    const { workspace_id: workspaceId, offset, limit } = query;
    const page = await store.listGuardrails(principal, {
      offset,
      limit,
      ...(workspaceId !== undefined && { workspaceId }),
    });
    if (page === undefined) throw noWorkspace(workspaceId);
    return renderPage(page, renderGuardrail);
  },
});

const create = jsonOperation({
  operationId: 'createGuardrail',
  family,
  permit,
  method: 'POST',
  path: '/guardrails',
  summary: 'Create a guardrail',
  description:
    'Without `workspace_id` it belongs to the default workspace. Patterns of `content_filters` are RE2: a pattern that a linear-time engine does not compile is refused with 400.',
  returns: 'The guardrail.',
  body: GuardrailCreate,
  status: 201,
  result: dataOf(Guardrail),
  refusals: [403],
  invalidExample: { body: { name: 'Support team', allowed_models: [] } },
  async run({ principal, body, deadline }, { store, patterns, guardrailBytesMax }) {
    const { workspace_id: workspaceId, ...policy } = body;
    await patterns.requireLinear(policy.content_filters, principal.account, deadline.signal);
    const created = await store
      .createGuardrail(principal, workspaceId, spreadEnforceZdr(policy), guardrailBytesMax)
      .catch(asRefusal);
    if (created === undefined) throw noWorkspace(workspaceId);
    return { data: renderGuardrail(created) };
  },
});

const get = jsonOperation({
  ...one,
  operationId: 'getGuardrail',
  method: 'GET',
  summary: 'Get a guardrail',
  description: 'A guardrail by its id.',
  returns: 'The guardrail.',
  result: dataOf(Guardrail),
  refusals: [404],
  async run({ principal, path }, { store }) {
    const found = await store.findGuardrail(principal, requireId(path));
    if (found === undefined) throw notFound();
    return { data: renderGuardrail(found) };
  },
});

const update = jsonOperation({
  ...one,
  operationId: 'updateGuardrail',
  method: 'PATCH',
  summary: 'Change a guardrail',
  description:
    'Omitted fields keep their value, `null` clears one, a list replaces the whole list. The workspace cannot be changed.',
  returns: 'The updated guardrail.',
  body: GuardrailUpdate,
  result: dataOf(Guardrail),
  refusals: [404],
  invalidExample: { body: { limit_usd: -1 } },
  async run({ principal, path, body, deadline }, { store, patterns, guardrailBytesMax }) {
    const id = requireId(path);
    await patterns.requireLinear(body.content_filters, principal.account, deadline.signal);
    const changed = await store
      .changeGuardrail(principal, id, spreadEnforceZdr(body), guardrailBytesMax)
      .catch(asRefusal);
    if (changed === undefined) throw notFound();
    return { data: renderGuardrail(changed) };
  },
});

const remove = jsonOperation({
  ...one,
  operationId: 'deleteGuardrail',
  method: 'DELETE',
  summary: 'Delete a guardrail',
  description: 'Its assignments are deleted too.',
  returns: 'The guardrail was deleted.',
  result: Deleted,
  refusals: [404],
  async run({ principal, path }, { store }) {
    if (!(await store.deleteGuardrail(principal, requireId(path)))) throw notFound();
    return { deleted: true as const };
  },
});

export const GUARDRAIL_OPERATIONS: readonly Operation[] = [list, create, get, update, remove];

function asRefusal(error: unknown): never {
  if (!(error instanceof GuardrailsTooLarge)) throw error;
  throw new Refusal(
    'invalid_parameters',
    'The guardrails of this account would exceed its space. Delete some, or shorten their lists.',
  );
}

/** The guardrail that a path names. An id that is not a UUID does not exist. */
export function requireId(path: Readonly<Record<string, string>>): string {
  const id = z.uuid().safeParse(path['id']);
  if (!id.success) throw notFound();
  return id.data;
}
