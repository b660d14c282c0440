import { z } from 'zod';
import { applyUpdate, type CredentialFacts } from '../core/byok/apply-update.ts';
import { renderCredential } from '../core/byok/render-credential.ts';
import { notFound, requireManager } from '../core/caller.ts';
import { Refusal } from '../core/refusal.ts';
import { ByokCredential, ByokListQuery, ByokPage, ByokUpdate } from '../core/shapes/byok.ts';
import { dataOf } from '../core/shapes/common.ts';
import { jsonOperation, type Operation } from './operation.ts';

const list = jsonOperation({
  operationId: 'listByokCredentials',
  family: 'BYOK',
  method: 'GET',
  path: '/byok',
  summary: 'List provider credentials',
  permit: requireManager,
  query: ByokListQuery,
  status: 200,
  result: ByokPage,
  refusals: [400, 401],
  async run({ principal, query }, { store }) {
    const page = await store.listCredentials(principal, {
      offset: query.offset,
      limit: query.limit,
      ...(query.workspace_id !== undefined && { workspaceId: query.workspace_id }),
      ...(query.provider !== undefined && { provider: query.provider }),
    });
    if (page === undefined) throw noWorkspace(query.workspace_id);
    return { data: page.rows.map(renderCredential), total_count: page.total };
  },
});

const update = jsonOperation({
  operationId: 'updateByokCredential',
  family: 'BYOK',
  method: 'PATCH',
  path: '/byok/{id}',
  summary: 'Change a provider credential, or rotate its key in place',
  permit: requireManager,
  body: ByokUpdate,
  status: 200,
  result: dataOf(ByokCredential),
  refusals: [400, 401, 403, 404, 409],
  async run({ principal, path, body }, { store, vault }) {
    const id = z.uuid().safeParse(path['id']);
    if (!id.success) throw notFound();
    await requireOwnKeys(body.allowed_api_key_hashes ?? []);
    const outcome = await store.changeCredential(principal, id.data, async (stored) => {
      const { columns, rotatedKey } = applyUpdate(stored as CredentialFacts, body);
      return rotatedKey === undefined
        ? columns
        : { ...columns, sealed_key: await vault.seal(stored, rotatedKey) };
    });
    if (outcome === 'absent') throw notFound();
    if (outcome === 'busy') {
      throw new Refusal('conflict', 'The credential is being changed by another request. Try again later.');
    }
    return { data: renderCredential(outcome.changed) };

    async function requireOwnKeys(hashes: readonly string[]): Promise<void> {
      const [unknown] = await store.unknownApiKeys(principal, hashes);
      if (unknown === undefined) return;
      throw new Refusal(
        'invalid_parameters',
        `allowed_api_key_hashes: ${unknown} is not a key of this account.`,
      );
    }
  },
});

export const BYOK_OPERATIONS: readonly Operation[] = [list, update];

/** The account has no such workspace, or none by default. */
export function noWorkspace(workspaceId: string | undefined): Refusal {
  return new Refusal(
    'invalid_parameters',
    workspaceId === undefined
      ? 'The default workspace was deleted: pass workspace_id.'
      : 'workspace_id: not a workspace of this account.',
  );
}
