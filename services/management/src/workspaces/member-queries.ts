import type { Database } from '@ori/store/database';
import type { Schema } from '@ori/store/schema';
import { type Account, asTenant } from '@ori/store/tenant';
import { requireAccepted } from '@ori/store/writes/api-keys';
import { addMembers, removeMembers } from '@ori/store/writes/members';
import { sql, type Transaction } from 'kysely';
import type { Manager } from '../callers/caller.ts';
import { type Page, type PageRequest, readPage } from '../read-page.ts';
import { Refusal } from '../refusal.ts';

/** A person with a membership in a workspace of the organization. */
export interface PersonRow {
  readonly id: string;
  readonly name: string;
  readonly email: string | null;
}

export interface MemberRow {
  /** Of workspace and user. */
  readonly id: string;
  readonly workspace_id: string;
  readonly user_id: string;
  readonly created_at: Date;
}

const MEMBER = sql`m.workspace_id || ':' || m.user_id as id, m.workspace_id, m.user_id, m.created_at`;

/** The account's current memberships, in workspaces that are not deleted. */
const current = ({ organizationId }: Account) => sql`
  from members m where m.organization_id = ${organizationId} and m.removed_at is null and m.workspace_id not in (
    select id from workspaces where organization_id = ${organizationId} and deleted_at is not null)`;

/** A page of the organization's members, by id. */
export function listOrganizationMembers(
  db: Database,
  account: Account,
  page: PageRequest,
): Promise<Page<PersonRow>> {
  return asTenant(db, account, (trx) =>
    readPage<PersonRow>(trx, {
      matches: sql`from (select distinct m.user_id as id ${current(account)}) member`,
      order: sql`id`,
      shown: (members) =>
        sql`select u.id, u.name, u.email from (${members}) member join users u on u.id = member.id`,
      ...page,
    }),
  );
}

/** A page of the members of one workspace, which the caller has looked up, by user id. */
export function listWorkspaceMembers(
  db: Database,
  account: Account,
  { workspaceId, ...page }: PageRequest & { readonly workspaceId: string },
): Promise<Page<MemberRow>> {
  const matches = sql`${current(account)} and m.workspace_id = ${workspaceId}`;
  return asTenant(db, account, (trx) =>
    readPage<MemberRow>(trx, { columns: MEMBER, matches, order: sql`user_id`, ...page }),
  );
}

/**
 * Adds people who are, or once were, members of the organization: all of them or none.
 *
 * @throws Refusal `invalid_parameters` naming the first who never was, or whom an operator removed; AdminError
 *   `invalid_input` if the key was ended since the request began
 */
export function addWorkspaceMembers(
  db: Database,
  account: Account & Pick<Manager, 'keyHash'>,
  workspaceId: string,
  userIds: readonly string[],
): Promise<MemberRow[]> {
  return asTenant(db, account, async (trx) => {
    await requireAccepted({ kysely: trx }, account.keyHash);
    await requirePeople(trx, account, workspaceId, userIds);
    const { organizationId } = account;
    await addMembers({ kysely: trx }, { workspaceId, organizationId, userIds });
    const { rows } = await sql<MemberRow>`
      select ${MEMBER} ${current(account)}
        and m.workspace_id = ${workspaceId} and m.user_id = any (${[...userIds]}::text[])
      order by m.user_id`.execute(trx);
    return rows;
  });
}

/** Returns how many of them were members. */
export function removeWorkspaceMembers(
  db: Database,
  account: Account,
  workspaceId: string,
  userIds: readonly string[],
): Promise<number> {
  const { organizationId } = account;
  return asTenant(db, account, (trx) =>
    removeMembers({ kysely: trx }, { workspaceId, organizationId, userIds }),
  );
}

/**
 * Requires people whom the account may have in a workspace: members of the organization whom no operator removed from this
 * workspace, or former ones whom no operator removed from any.
 *
 * @throws Refusal `invalid_parameters` naming the first other one
 */
async function requirePeople(
  trx: Transaction<Schema>,
  { organizationId }: Account,
  workspaceId: string,
  userIds: readonly string[],
): Promise<void> {
  const { rows } = await sql<{ id: string; removed: boolean }>`
    select wanted.id, bool_or(m.user_id is not null) as removed
    from unnest(${[...userIds]}::text[]) as wanted (id)
    left join members m on m.organization_id = ${organizationId} and m.user_id = wanted.id
    group by wanted.id
    having not bool_or(m.user_id is not null)
      or bool_or(m.removed_by_operator) and not bool_or(m.removed_at is null)
      or bool_or(m.removed_by_operator and m.workspace_id = ${workspaceId})
    order by wanted.id limit 1`.execute(trx);
  const [refused] = rows;
  if (refused === undefined) return;
  const why = refused.removed
    ? 'was removed by an operator: only an operator adds them again'
    : 'is not a member of this organization';
  throw new Refusal('invalid_parameters', `${refused.id} ${why}.`);
}
