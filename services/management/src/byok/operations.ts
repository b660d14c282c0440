import { applyUpdate } from '@ori/byok/apply-update';
import { ByokUpdate } from '@ori/byok/credential';
import { z } from 'zod';
import { notFound, requireManager } from '../callers/caller.ts';
import { jsonOperation, type Operation } from '../http/operation.ts';
import { dataOf, renderPage } from '../page.ts';
import { Refusal } from '../refusal.ts';
import { renderCredential } from './render.ts';
import { ByokCredential, ByokListQuery, ByokPage } from './shape.ts';

const list = jsonOperation({
  operationId: 'listByokCredentials',
  family: 'BYOK',
  method: 'GET',
  path: '/byok',
  summary: 'List provider credentials',
  description:
    'The credentials of one workspace, and the global ones. Without `workspace_id`: of the default workspace, or 400 if that was deleted. Ordered by `sort_order`.',
  returns: 'A page of credentials, without the raw keys.',
  permit: requireManager,
  query: ByokListQuery,
  status: 200,
  result: ByokPage,
  refusals: [],
  invalidExample: { query: 'limit=101' },
  async run({ principal, query }, { store }) {
    const page = await store.listCredentials(principal, {
      offset: query.offset,
      limit: query.limit,
      ...(query.workspace_id !== undefined && { workspaceId: query.workspace_id }),
      ...(query.provider !== undefined && { provider: query.provider }),
    });
    if (page === undefined) throw noWorkspace(query.workspace_id);
    return renderPage(page, renderCredential);
  },
});

const update = jsonOperation({
  operationId: 'updateByokCredential',
  family: 'BYOK',
  method: 'PATCH',
  path: '/byok/{id}',
  summary: 'Change or rotate a provider credential',
  description:
    'Every field is optional: omitted fields keep their value, `null` clears one, a list replaces the whole list.\n\n- `key` rotates in place: the former key is overwritten and `label` is derived again.\n- `is_byok_only` and `is_required` each exclude `is_fallback`, judged on the resulting record.\n- `declared_region`: for `openai` and `fireworks` it must match the key, which may be JSON `{"api_key","region"}`; `azure` allows `europe` and `us`, `anthropic` only `us`, all others only `global`. `null` always clears it.',
  returns: 'The updated credential.',
  permit: requireManager,
  body: ByokUpdate,
  status: 200,
  result: dataOf(ByokCredential),
  refusals: [403, 404, 409],
  invalidExample: { body: { is_fallback: 'yes' } },
  async run({ principal, path, body }, { store, vault }) {
    const id = z.uuid().safeParse(path['id']);
    if (!id.success) throw notFound();
    await requireOwnKeys(body.allowed_api_key_hashes ?? []);
    const outcome = await store.changeCredential(principal, id.data, async (stored) => {
      const columns = applyUpdate(stored, body);
      return body.key === undefined
        ? columns
        : { ...columns, sealed_key: await vault.seal(stored, body.key) };
    });
    if (outcome === 'absent') throw notFound();
    if (outcome === 'busy') throw new Refusal('conflict');
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

/** The account has no such workspace, or no default workspace. */
export function noWorkspace(workspaceId: string | undefined): Refusal {
  return new Refusal(
    'invalid_parameters',
    workspaceId === undefined
      ? 'The default workspace was deleted: pass workspace_id.'
      : 'workspace_id: not a workspace of this account.',
  );
}
