import type { z } from 'zod';
import { found, type Manager, notFound, requireManager } from '../callers/caller.ts';
import { Deleted } from '../fields.ts';
import { type Call, jsonOperation, type Operation, type Services } from '../operation.ts';
import { dataOf, renderPage } from '../page.ts';
import {
  changeGuardrail,
  createGuardrail,
  deleteGuardrail,
  findGuardrail,
  listGuardrails,
} from './queries.ts';
import { renderGuardrail } from './render.ts';
import { Guardrail, GuardrailCreate, GuardrailListQuery, GuardrailPage, GuardrailUpdate } from './shape.ts';

const family = 'Guardrails';
const permit = requireManager;
const all = { family, permit, path: '/guardrails' } as const;
const one = { family, permit, path: '/guardrails/{id}' } as const;

const list = jsonOperation({
  ...all,
  operationId: 'listGuardrails',
  method: 'GET',
  summary: 'List guardrails',
  description: 'Without `workspace_id`: those of the default workspace. Newest first.',
  returns: 'A page of guardrails.',
  query: GuardrailListQuery,
  result: GuardrailPage,
  invalidExample: { query: 'limit=101' },
  async run({ principal, query }, { db }) {
    const { workspace_id: workspaceId, ...wanted } = query;
    return renderPage(await listGuardrails(db, principal, { workspaceId, ...wanted }), renderGuardrail);
  },
});

const create = jsonOperation({
  ...all,
  operationId: 'createGuardrail',
  method: 'POST',
  summary: 'Create a guardrail',
  description:
    'Without `workspace_id` it belongs to the default workspace. Patterns of `content_filters` are RE2: a pattern that a linear-time engine does not compile is refused with 400, and so are lists and filters that together have more than 65536 bytes as JSON.',
  returns: 'The guardrail.',
  body: GuardrailCreate,
  status: 201,
  result: dataOf(Guardrail),
  refusals: [403],
  invalidExample: { body: { name: 'Support team', allowed_models: [] } },
  refuseCostly: requireLinear,
  async run({ principal, body }, { db }) {
    const { workspace_id: workspaceId, ...policy } = body;
    const created = await createGuardrail(db, principal, workspaceId, spreadEnforceZdr(policy));
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
  async run({ principal, id }, { db }) {
    return { data: renderGuardrail(found(await findGuardrail(db, principal, id))) };
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
  refuseCostly: requireLinear,
  async run({ principal, id, body }, { db }) {
    const changed = await changeGuardrail(db, principal, id, spreadEnforceZdr(body));
    return { data: renderGuardrail(found(changed)) };
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
  async run({ principal, id }, { db }) {
    if (!(await deleteGuardrail(db, principal, id))) throw notFound();
    return { deleted: true as const };
  },
});

export const GUARDRAIL_OPERATIONS: readonly Operation[] = [list, create, get, update, remove];

function requireLinear(
  { principal, body, deadline }: Call<Manager, unknown, z.output<typeof GuardrailUpdate>>,
  { patterns }: Services,
): Promise<void> {
  return patterns.requireLinear(body.content_filters, principal.account, deadline.signal);
}

const FLAGS = [
  'enforce_zdr_anthropic',
  'enforce_zdr_google',
  'enforce_zdr_openai',
  'enforce_zdr_other',
] as const;

type Flags = { [Flag in (typeof FLAGS)[number]]?: boolean | null | undefined };

/**
 * Resolves the deprecated `enforce_zdr`: if given, its value applies to each per-provider flag that is not. It is not
 * stored itself, so a record shows it as null next to the flags that it set, and null counts as not given.
 */
export function spreadEnforceZdr<Input extends Flags & { enforce_zdr?: boolean | null | undefined }>(
  input: Input,
): Omit<Input, 'enforce_zdr'> & Flags {
  const { enforce_zdr: everywhere, ...rest } = input;
  if (everywhere === undefined || everywhere === null) return rest;
  return { ...Object.fromEntries(FLAGS.map((flag) => [flag, everywhere])), ...rest };
}
