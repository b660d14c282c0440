import { type SqlBool, sql, type Transaction } from 'kysely';
import type { Schema } from '../../schema.ts';
import type { Account } from './tenant.ts';

/** The account's workspace with this id, or its default one; undefined if it does not exist. */
export async function findWorkspace(
  trx: Transaction<Schema>,
  { organizationId }: Account,
  workspaceId: string | undefined,
): Promise<string | undefined> {
  const row = await trx
    .selectFrom('workspaces')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('deleted_at', 'is', null)
    .$if(workspaceId === undefined, (query) => query.where('is_default', '=', true))
    .$if(workspaceId !== undefined, (query) => query.where('id', '=', workspaceId ?? ''))
    .executeTakeFirst();
  return row?.id;
}

/** Whether the workspace of a row is not deleted. A row without a workspace belongs to every workspace. */
export const workspaceExists = sql<SqlBool>`(workspace_id is null or exists (
  select from workspaces w where w.id = workspace_id and w.deleted_at is null))`;
