import { sql } from 'kysely';
import type { Database } from '../../database.ts';
import { firstOf, type ListRequest } from './listed.ts';

export function listOrganizations(db: Database, request: ListRequest) {
  return firstOf(
    db.kysely
      .selectFrom('organizations')
      .select((eb) => [
        'id',
        'name',
        'turns_per_user',
        'turns_per_organization',
        'created_at',
        eb
          .selectFrom('workspaces')
          .select(sql<number>`count(*)::int`.as('count'))
          .whereRef('workspaces.organization_id', '=', 'organizations.id')
          .where('deleted_at', 'is', null)
          .as('workspaces'),
      ])
      .orderBy('created_at')
      .orderBy('id'),
    request,
  );
}

/** Includes deleted ones, whose rows stay because other rows refer to them. */
export function listWorkspaces(
  db: Database,
  { organizationId, ...request }: ListRequest & { readonly organizationId?: string | undefined },
) {
  return firstOf(
    db.kysely
      .selectFrom('workspaces')
      .select(['id', 'name', 'organization_id', 'is_default', 'in_programme', 'created_at', 'deleted_at'])
      .$if(organizationId !== undefined, (query) => query.where('organization_id', '=', organizationId ?? ''))
      .orderBy('organization_id')
      .orderBy('created_at')
      .orderBy('id'),
    request,
  );
}

/** Users with their subjects, each with its issuer. */
export function listUsers(
  db: Database,
  { userId, ...request }: ListRequest & { readonly userId?: string | undefined },
) {
  return firstOf(
    db.kysely
      .selectFrom('users')
      .select((eb) => [
        'id',
        'name',
        'created_at',
        'disabled_at',
        eb
          .selectFrom('user_subjects')
          .select(
            sql<{ issuer: string; subject: string }[]>`coalesce(json_agg(json_build_object(
              'issuer', issuer, 'subject', subject) order by issuer, subject), '[]')`.as('subjects'),
          )
          .whereRef('user_subjects.user_id', '=', 'users.id')
          .as('subjects'),
      ])
      .$if(userId !== undefined, (query) => query.where('id', '=', userId ?? ''))
      .orderBy('created_at')
      .orderBy('id'),
    request,
  );
}

/** Members of one workspace, or memberships of one user, or all of them, including removed ones. */
export function listMembers(
  db: Database,
  {
    workspaceId,
    userId,
    ...request
  }: ListRequest & { readonly workspaceId?: string | undefined; readonly userId?: string | undefined },
) {
  return firstOf(
    db.kysely
      .selectFrom('members')
      .innerJoin('users', 'users.id', 'members.user_id')
      .select([
        'members.workspace_id',
        'members.user_id',
        'users.name as user_name',
        'members.created_at',
        'members.removed_at',
        'members.sessions_valid_from',
      ])
      .$if(workspaceId !== undefined, (query) => query.where('members.workspace_id', '=', workspaceId ?? ''))
      .$if(userId !== undefined, (query) => query.where('members.user_id', '=', userId ?? ''))
      .orderBy('members.workspace_id')
      .orderBy('members.created_at')
      .orderBy('members.user_id'),
    request,
  );
}
