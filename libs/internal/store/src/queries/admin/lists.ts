import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Database } from '../../database.ts';

/** The first rows of a list, and whether the limit cut any off. */
export interface Listed<Row> {
  readonly rows: Row[];
  readonly hasMore: boolean;
}

/** How many rows to list, and what their columns equal; a column that is undefined may have any value. */
type Request<Column extends string = never> = { readonly limit: number } & {
  readonly [Name in Column]?: string | undefined;
};

function matching(filter: Readonly<Record<string, string | undefined>>): RawBuilder<SqlBool> {
  const conditions = Object.entries(filter).map(([column, value]) =>
    value === undefined ? sql<SqlBool>`true` : sql<SqlBool>`${sql.ref(column)} = ${value}`,
  );
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

interface Limitable<Row> {
  limit(rows: number): { execute(): Promise<Row[]> };
}

async function firstOf<Row>(limit: number, query: Limitable<Row>): Promise<Listed<Row>> {
  const rows = await query.limit(limit + 1).execute();
  return { rows: rows.slice(0, limit), hasMore: rows.length > limit };
}

export function listOrganizations({ kysely }: Database, { limit }: Request) {
  const query = kysely
    .selectFrom('organizations')
    .selectAll()
    .select((eb) =>
      eb
        .selectFrom('workspaces')
        .select(sql<number>`count(*)::int`.as('count'))
        .whereRef('workspaces.organization_id', '=', 'organizations.id')
        .where('deleted_at', 'is', null)
        .as('workspaces'),
    );
  return firstOf(limit, query.orderBy('created_at').orderBy('id'));
}

/** Includes deleted ones, whose rows stay because other rows refer to them. */
export function listWorkspaces({ kysely }: Database, { limit, ...filter }: Request<'organization_id'>) {
  const query = kysely.selectFrom('workspaces').selectAll().where(matching(filter));
  return firstOf(limit, query.orderBy('organization_id').orderBy('created_at').orderBy('id'));
}

/** Users with their subjects, each with its issuer. */
export function listUsers({ kysely }: Database, { limit, ...filter }: Request<'id'>) {
  const subjects = sql<{ issuer: string; subject: string }[]>`(
    select coalesce(json_agg(json_build_object('issuer', issuer, 'subject', subject) order by issuer, subject), '[]')
    from user_subjects where user_id = users.id)`;
  const query = kysely.selectFrom('users').selectAll().select(subjects.as('subjects'));
  return firstOf(limit, query.where(matching(filter)).orderBy('created_at').orderBy('id'));
}

/** Members of one workspace, or memberships of one user, or all of them, including removed ones. */
export function listMembers({ kysely }: Database, { limit, ...filter }: Request<'workspace_id' | 'user_id'>) {
  const query = kysely
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'user_id')
    .select(['workspace_id', 'user_id', 'users.name as user_name'])
    .select(['members.created_at', 'removed_at', 'sessions_valid_from'])
    .where(matching(filter));
  return firstOf(limit, query.orderBy('workspace_id').orderBy('members.created_at').orderBy('user_id'));
}

/** Interns of one workspace or of all, newest first, whether or not the workspace is in the programme. */
export function listAllInterns(
  { kysely }: Database,
  { limit, ...filter }: Request<'workspace_id' | 'status'>,
) {
  const query = kysely.selectFrom('interns').selectAll().where(matching(filter));
  return firstOf(limit, query.orderBy('created_at', 'desc').orderBy('id', 'desc'));
}

/** API keys, of which only hash and label are stored. */
export function listApiKeys({ kysely }: Database, { limit, ...filter }: Request<'organization_id'>) {
  const query = kysely.selectFrom('api_keys').selectAll().where(matching(filter));
  return firstOf(limit, query.orderBy('organization_id').orderBy('created_at').orderBy('hash'));
}

/** Signing keys without their seeds, including retired ones, the newest interval first. */
export function listSigningKeys({ kysely }: Database, { limit, ...filter }: Request<'intern_id'>) {
  const query = kysely
    .selectFrom('signing_keys')
    .select(['id', 'intern_id', 'kid', 'not_before', 'expires_at', 'created_at', 'retired_at'])
    .where(matching(filter));
  return firstOf(limit, query.orderBy('intern_id').orderBy('not_before', 'desc').orderBy('id'));
}

/** Provider credentials without their keys. */
export function listAllCredentials(
  { kysely }: Database,
  { limit, ...filter }: Request<'organization_id' | 'provider'>,
) {
  const query = kysely
    .selectFrom('byok_credentials')
    .select(['id', 'label', 'provider', 'name', 'organization_id', 'workspace_id', 'disabled'])
    .select(['is_fallback', 'is_required', 'is_byok_only', 'sort_order', 'declared_region', 'declared_zdr'])
    .select(['allowed_api_key_hashes', 'allowed_models', 'allowed_user_ids', 'created_at'])
    .where(matching(filter));
  const ordered = query.orderBy('organization_id').orderBy('sort_order').orderBy('created_at');
  return firstOf(limit, ordered.orderBy('id'));
}
