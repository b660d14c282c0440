import { found, notFound, requireKeyHolder, requireManager } from '../callers/caller.ts';
import { Deleted } from '../fields.ts';
import { jsonOperation, type Operation } from '../operation.ts';
import { renderPage } from '../page.ts';
import { Refusal } from '../refusal.ts';
import { changeKey, createKey, deleteKey, findKey, findOwnKey, listKeys } from './queries.ts';
import { renderCurrentKey, renderKey } from './render.ts';
import {
  CurrentKeyRecord,
  KeyCreate,
  KeyCreated,
  KeyListQuery,
  KeyPage,
  KeyRecord,
  KeyUpdate,
} from './shape.ts';

const family = 'API keys';
const permit = requireManager;
const all = { family, permit, path: '/keys' } as const;
const one = { family, permit, path: '/keys/{hash}' } as const;

const list = jsonOperation({
  ...all,
  operationId: 'listApiKeys',
  method: 'GET',
  summary: 'List API keys',
  description:
    'The keys of one workspace, newest first. Without `workspace_id`: of the default workspace. Management keys are not listed.',
  returns: 'A page of keys, without the keys themselves.',
  query: KeyListQuery,
  result: KeyPage,
  invalidExample: { query: 'offset=-1' },
  async run({ principal, query }, { db }) {
    const { workspace_id: workspaceId, include_disabled: includeDisabled, ...page } = query;
    const keys = await listKeys(db, principal, { workspaceId, includeDisabled, ...page });
    return renderPage(keys, renderKey);
  },
});

const create = jsonOperation({
  ...all,
  operationId: 'createApiKey',
  method: 'POST',
  summary: 'Create an API key',
  description:
    'An ordinary key of one workspace. It is shown in this answer only: the service stores its SHA-256, which is its `hash`. Management keys are created by an operator.',
  returns: 'The key, and its record.',
  body: KeyCreate,
  status: 201,
  result: KeyCreated,
  refusals: [403],
  invalidExample: { body: { name: '' } },
  async run({ principal, body }, { db }) {
    const { name, workspace_id: workspaceId, creator_user_id: creator, expires_at: expiresAt } = body;
    if (expiresAt && expiresAt.getTime() <= Date.now()) {
      throw new Refusal('invalid_parameters', 'expires_at: must be in the future.');
    }
    const createdBy = creator ?? principal.userId;
    const created = await createKey(db, principal, {
      name,
      workspaceId,
      createdByKey: principal.keyHash,
      ...(createdBy !== null && { createdBy }),
      ...(expiresAt && { expiresAt }),
    });
    return { data: renderKey(created.row), key: created.made.key };
  },
});

const get = jsonOperation({
  ...one,
  operationId: 'getApiKey',
  method: 'GET',
  summary: 'Get an API key',
  description: 'The record of a key by its hash, without the key itself.',
  returns: 'The record.',
  result: KeyRecord,
  refusals: [404],
  async run({ principal, id }, { db }) {
    return { data: renderKey(found(await findKey(db, principal, id))) };
  },
});

const update = jsonOperation({
  ...one,
  operationId: 'updateApiKey',
  method: 'PATCH',
  summary: 'Rename, disable or enable an API key',
  description:
    'Omitted fields keep their value. A disabled key is refused from the next request on, and can be enabled again.',
  returns: 'The updated record.',
  body: KeyUpdate,
  result: KeyRecord,
  refusals: [404],
  invalidExample: { body: { limit: 10 } },
  async run({ principal, id, body: { name, disabled } }, { db }) {
    const changed = await changeKey(db, principal, id, { name, disabled });
    return { data: renderKey(found(changed)) };
  },
});

const remove = jsonOperation({
  ...one,
  operationId: 'deleteApiKey',
  method: 'DELETE',
  summary: 'Delete an API key',
  description: 'It is refused from the next request on. Its guardrail assignment is deleted too.',
  returns: 'The key was deleted.',
  result: Deleted,
  refusals: [404],
  async run({ principal, id }, { db }) {
    if (!(await deleteKey(db, principal, id))) throw notFound();
    return { deleted: true as const };
  },
});

const current = jsonOperation({
  operationId: 'getCurrentKey',
  family,
  method: 'GET',
  path: '/key',
  summary: "Get the caller's own key",
  description: 'The record of the key that the request carries, of whatever kind.',
  returns: 'The record.',
  permit: requireKeyHolder,
  result: CurrentKeyRecord,
  async run({ principal }, { db }) {
    const row = await findOwnKey(db, principal);
    if (row === undefined) throw new Refusal('bearer_refused');
    return { data: renderCurrentKey(row, principal) };
  },
});

export const KEY_OPERATIONS: readonly Operation[] = [list, create, get, update, remove, current];
