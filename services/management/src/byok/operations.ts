import { randomUUID } from 'node:crypto';
import { applyUpdate, newCredential } from '@ori/store/byok/apply-update';
import { type CredentialRow, changeCredential, findCredential } from '@ori/store/byok/change-credential';
import { ByokUpdate } from '@ori/store/byok/credential';
import { sealProviderKey } from '@ori/store/byok/seal-provider-key';
import { found, notFound, requireManager } from '../callers/caller.ts';
import { Deleted } from '../fields.ts';
import { jsonOperation, type Operation } from '../operation.ts';
import { dataOf, renderPage } from '../page.ts';
import { Refusal } from '../refusal.ts';
import { addCredential, listCredentials, removeCredential, unknownApiKeys } from './queries.ts';
import { ByokCreate, ByokCredential, ByokListQuery, ByokPage } from './shape.ts';

const family = 'BYOK';
const permit = requireManager;
const all = { family, permit, path: '/byok' } as const;
const one = { family, permit, path: '/byok/{id}' } as const;

const list = jsonOperation({
  ...all,
  operationId: 'listByokCredentials',
  method: 'GET',
  summary: 'List provider credentials',
  isClosed: true,
  description:
    'The credentials of one workspace, and the global ones. Without `workspace_id`: of the default workspace, or 400 if that was deleted. Ordered by `sort_order`.',
  returns: 'A page of credentials, without the raw keys.',
  query: ByokListQuery,
  result: ByokPage,
  invalidExample: { query: 'limit=101' },
  async run({ principal, query }, { db }) {
    const { workspace_id: workspaceId, ...wanted } = query;
    return renderPage(await listCredentials(db, principal, { workspaceId, ...wanted }), renderCredential);
  },
});

const create = jsonOperation({
  ...all,
  operationId: 'createByokCredential',
  method: 'POST',
  summary: 'Store a provider credential',
  description:
    'The key is sealed before it is stored, and never returned. Its fields follow the rules of a change: `is_byok_only` and `is_required` each exclude `is_fallback`, and `declared_region` must be one that the provider allows.',
  returns: 'The credential, without its key.',
  body: ByokCreate,
  status: 201,
  result: dataOf(ByokCredential),
  refusals: [403],
  invalidExample: { body: { provider: 'openai', key: 'sk-1', is_fallback: 'yes' } },
  async run({ principal, body }, { db, ring }) {
    const { workspace_id: workspaceId, provider, ...fields } = body;
    requireNone(await unknownApiKeys(db, principal, fields.allowed_api_key_hashes ?? []));
    const { organizationId: organization_id } = principal;
    const id = randomUUID();
    const columns = newCredential(provider, fields);
    const sealed_key = await sealProviderKey(ring, { id, organization_id }, fields.key);
    const created = await addCredential(db, principal, workspaceId, {
      id,
      provider,
      ...columns,
      sealed_key,
    });
    return { data: renderCredential(created) };
  },
});

const get = jsonOperation({
  ...one,
  operationId: 'getByokCredential',
  method: 'GET',
  summary: 'Get a provider credential',
  description: 'A credential by its id, without its key.',
  returns: 'The credential.',
  result: dataOf(ByokCredential),
  refusals: [404],
  async run({ principal, id }, { db }) {
    return { data: renderCredential(found(await findCredential(db, principal, id))) };
  },
});

const remove = jsonOperation({
  ...one,
  operationId: 'deleteByokCredential',
  method: 'DELETE',
  summary: 'Delete a provider credential',
  description: 'Deletes it with the only stored copy of its key.',
  returns: 'The credential was deleted.',
  result: Deleted,
  refusals: [404],
  async run({ principal, id }, { db }) {
    if (!(await removeCredential(db, principal, id))) throw notFound();
    return { deleted: true as const };
  },
});

const update = jsonOperation({
  ...one,
  operationId: 'updateByokCredential',
  method: 'PATCH',
  summary: 'Change or rotate a provider credential',
  isClosed: true,
  description:
    'Every field is optional: omitted fields keep their value, `null` clears one, a list replaces the whole list.\n\n- `key` rotates in place: the former key is overwritten and `label` is derived again.\n- `is_byok_only` and `is_required` each exclude `is_fallback`, judged on the resulting record.\n- `declared_region`: for `openai` and `fireworks` it must match the key, which may be JSON `{"api_key","region"}`; `azure` allows `europe` and `us`, `anthropic` only `us`, all others every region. `null` always clears it.',
  returns: 'The updated credential.',
  body: ByokUpdate,
  result: dataOf(ByokCredential),
  refusals: [403, 404, 409],
  invalidExample: { body: { is_fallback: 'yes' } },
  async run({ principal, id, body }, { db, ring }) {
    const unknown = await unknownApiKeys(db, principal, body.allowed_api_key_hashes ?? []);
    const changed = await changeCredential(db, principal, id, async (stored) => {
      // A key that the record names and that was deleted since may stay: it fits no key.
      requireNone(unknown.filter((hash) => !stored.allowed_api_key_hashes?.includes(hash)));
      const columns = applyUpdate(stored, body);
      return body.key === undefined
        ? columns
        : { ...columns, sealed_key: await sealProviderKey(ring, stored, body.key) };
    });
    return { data: renderCredential(found(changed)) };
  },
});

export const BYOK_OPERATIONS: readonly Operation[] = [list, create, get, update, remove];

function requireNone([unknown]: readonly string[]): void {
  if (unknown === undefined) return;
  throw new Refusal('invalid_parameters', `allowed_api_key_hashes: ${unknown} is not a key of this account.`);
}

/** The columns that are not shown. A column that is neither here nor in the shape is a compile error. */
const HIDDEN = {
  organization_id: undefined,
  sealed_key: undefined,
  key_region: undefined,
  disabled_by_operator: undefined,
} satisfies Record<Exclude<keyof CredentialRow, keyof ByokCredential>, undefined>;

export function renderCredential(row: CredentialRow): ByokCredential {
  return { ...row, ...HIDDEN, created_at: row.created_at.toISOString() };
}
