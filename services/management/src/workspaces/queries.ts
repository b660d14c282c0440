import type { Database } from '@ori/store/database';
import type { Schema, WorkspacesTable } from '@ori/store/schema';
import { type Account, asTenant, ofAccount } from '@ori/store/tenant';
import { translateConstraints } from '@ori/store/writes/admin-error';
import { requireAccepted } from '@ori/store/writes/api-keys';
import { addMembers } from '@ori/store/writes/members';
import { createWorkspace } from '@ori/store/writes/workspaces';
import { type ExpressionBuilder, type Selectable, sql, type Transaction } from 'kysely';
import { found, type Manager, notFound } from '../callers/caller.ts';
import { type Page, type PageRequest, readPage } from '../read-page.ts';
import { Refusal } from '../refusal.ts';

export type WorkspaceRow = Selectable<WorkspacesTable>;

interface WorkspaceColumns {
  readonly name?: string | undefined;
  readonly slug?: string | undefined;
  readonly description?: string | null | undefined;
}

/** Whether a row is a workspace of the account that is not deleted. */
const liveOf = (account: Account) => (eb: ExpressionBuilder<Schema, 'workspaces'>) =>
  eb.and([ofAccount(account)(eb), eb('deleted_at', 'is', null)]);

/** A page of the account's workspaces, newest first. */
export function listWorkspaces(
  db: Database,
  account: Account,
  page: PageRequest,
): Promise<Page<WorkspaceRow>> {
  const matches = sql`from workspaces where organization_id = ${account.organizationId} and deleted_at is null`;
  return asTenant(db, account, (trx) =>
    readPage<WorkspaceRow>(trx, { matches, order: sql`created_at desc, id`, ...page }),
  );
}

/** A workspace by its id, or else by its slug. @throws Refusal `not_found` */
export async function findWorkspaceRecord(
  db: Database,
  account: Account,
  idOrSlug: string,
): Promise<WorkspaceRow> {
  const row = await asTenant(db, account, (trx) =>
    trx
      .selectFrom('workspaces')
      .selectAll()
      .where(liveOf(account))
      .where((eb) => eb.or([eb('id', '=', idOrSlug), eb('slug', '=', idOrSlug)]))
      .orderBy(sql`id <> ${idOrSlug}`)
      .limit(1)
      .$if(db.locksRecords === true, (query) => query.forUpdate())
      .executeTakeFirst(),
  );
  return found(row);
}

/**
 * Outside the programme, because only an operator can change that; whoever created it is a member.
 *
 * @throws AdminError `conflict` if the slug is taken, `invalid_input` if the key was ended since the request began
 */
export function createWorkspaceRecord(
  db: Database,
  account: Account & Pick<Manager, 'keyHash' | 'userId'>,
  columns: WorkspaceColumns & { readonly name: string },
): Promise<WorkspaceRow> {
  const { organizationId, keyHash, userId: createdBy } = account;
  return asTenant(db, account, async (trx) => {
    await requireAccepted({ kysely: trx }, keyHash);
    const { id } = await createWorkspace({ kysely: trx }, { organizationId, ...columns, createdBy });
    if (createdBy !== null) {
      await addMembers({ kysely: trx }, { workspaceId: id, organizationId, userIds: [createdBy] });
    }
    return await findWorkspaceRecord({ ...db, kysely: trx }, account, id);
  });
}

/**
 * Sets the given fields. If none is given, `updated_at` is unchanged too.
 *
 * @throws Refusal `not_found`; AdminError `conflict` if the slug is taken
 */
export async function changeWorkspaceRecord(
  db: Database,
  account: Account,
  id: string,
  columns: WorkspaceColumns,
): Promise<WorkspaceRow> {
  if (Object.values(columns).every((value) => value === undefined)) {
    return await findWorkspaceRecord(db, account, id);
  }
  const row = await asTenant(db, account, (trx) =>
    translateConstraints('workspace', () =>
      trx
        .updateTable('workspaces')
        .set({ ...columns, updated_at: sql`now()` })
        .where(liveOf(account))
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst(),
    ),
  );
  return found(row);
}

/**
 * @throws Refusal `not_found`; `invalid_parameters` for a workspace with a valid key, and for the default workspace unless
 *   that is confirmed
 */
export function deleteWorkspaceRecord(
  db: Database,
  account: Account,
  id: string,
  { defaultToo }: { readonly defaultToo: boolean },
): Promise<void> {
  const { organizationId } = account;
  return asTenant(db, account, async (trx) => {
    const workspace = await trx
      .selectFrom('workspaces')
      .select('is_default')
      .where(liveOf(account))
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst();
    if (workspace === undefined) throw notFound();
    if (workspace.is_default && !defaultToo) {
      throw refused('The default workspace: pass confirm_default_workspace_deletion=true.');
    }
    const key = await trx
      .selectFrom('api_keys')
      .select('hash')
      .where('organization_id', '=', organizationId)
      .where('workspace_id', '=', id)
      .where('disabled_at', 'is', null)
      .orderBy('hash')
      .limit(1)
      .executeTakeFirst();
    if (key !== undefined) throw refused('The workspace has API keys: delete or disable them first.');
    await trx
      .updateTable('workspaces')
      .set({ deleted_at: sql`now()` })
      .where(liveOf(account))
      .where('id', '=', id)
      .execute();
  });
}

const refused = (message: string) => new Refusal('invalid_parameters', message);

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
