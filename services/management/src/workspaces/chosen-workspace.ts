import type { Schema } from '@ori/store/schema';
import type { Account } from '@ori/store/tenant';
import type { Transaction } from 'kysely';
import { Refusal } from '../refusal.ts';

/**
 * The id of the account's workspace with this one, or of its default one.
 *
 * @throws Refusal `invalid_parameters` if there is none
 */
export async function chosenWorkspace(
  trx: Transaction<Schema>,
  { organizationId }: Account,
  workspaceId: string | undefined,
): Promise<string> {
  const row = await trx
    .selectFrom('workspaces')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .$if(workspaceId === undefined, (query) => query.where('is_default', '=', true))
    .$if(workspaceId !== undefined, (query) => query.where('id', '=', workspaceId ?? ''))
    .executeTakeFirst();
  if (row !== undefined) return row.id;
  throw new Refusal(
    'invalid_parameters',
    workspaceId === undefined
      ? 'The default workspace was deleted: pass workspace_id.'
      : 'workspace_id: not a workspace of this account.',
  );
}
