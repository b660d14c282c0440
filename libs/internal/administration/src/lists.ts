import type { Database } from '@ori/store/database';
import { AdminError } from '@ori/store/writes/admin-error';
import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from 'kysely';

export interface Listed<Row> {
  readonly rows: Row[];
  /** Whether the limit cut any off. */
  readonly hasMore: boolean;
  /** The cursor of the next page; undefined if this is the last one. */
  readonly next?: string | undefined;
}

/** How many rows to list, after which cursor, and what their columns equal; a column that is undefined may have any value. */
type Request<Column extends string = never> = {
  readonly limit: number;
  readonly after?: string | undefined;
} & { readonly [Name in Column]?: string | undefined };

function matching(filter: Readonly<Record<string, string | undefined>>): RawBuilder<SqlBool> {
  const conditions = Object.entries(filter).map(([column, value]) =>
    value === undefined ? sql<SqlBool>`true` : sql<SqlBool>`${sql.ref(column)} = ${value}`,
  );
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

/** A column and its direction. The columns of an order identify a row. */
type Order = readonly (readonly [column: string, direction?: 'desc'])[];

/**
 * The first matching rows after the cursor, which is the place of the last row of the page before.
 *
 * @throws AdminError `invalid_input`
 */
async function pageOf<Tables, Names extends keyof Tables, Row extends object>(
  query: SelectQueryBuilder<Tables, Names, Row>,
  { limit, after, ...filter }: Request,
  order: Order,
): Promise<Listed<Row>> {
  let page = query.where(matching(filter));
  if (after !== undefined) page = page.where(isAfter(readCursor(after, order.length), order));
  for (const [column, direction] of order) page = page.orderBy(sql.ref(column), direction ?? 'asc');
  const rows = await page.limit(limit + 1).execute();
  const shown = rows.slice(0, limit);
  const last = shown.at(-1) as Readonly<Record<string, unknown>> | undefined;
  if (last === undefined || rows.length === shown.length) return { rows: shown, hasMore: false };
  const place = order.map(([column]) => last[column.split('.').at(-1) ?? '']);
  return { rows: shown, hasMore: true, next: Buffer.from(JSON.stringify(place)).toString('base64url') };
}

/** Whether a row comes after the place: it is further in one column, and equal in those before. */
function isAfter(place: readonly unknown[], order: Order): RawBuilder<SqlBool> {
  const alternatives = order.map(([column, direction], index) => {
    const equal = order.slice(0, index).map(([one], at) => sql`${sql.ref(one)} = ${place[at]}`);
    const further = sql`${sql.ref(column)} ${sql.raw(direction === 'desc' ? '<' : '>')} ${place[index]}`;
    return sql`(${sql.join([...equal, further], sql` and `)})`;
  });
  return sql`(${sql.join(alternatives, sql` or `)})`;
}

function readCursor(text: string, length: number): readonly unknown[] {
  try {
    const place: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    const isPlain = (value: unknown) => typeof value === 'string' || typeof value === 'number';
    if (Array.isArray(place) && place.length === length && place.every(isPlain)) return place;
  } catch {}
  throw new AdminError('invalid_input', 'cursor: expected one that this list printed');
}

export function listOrganizations({ kysely }: Database, request: Request) {
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
  return pageOf(query, request, [['created_at'], ['id']]);
}

/** Includes deleted ones, whose rows stay because other rows refer to them. */
export function listWorkspaces({ kysely }: Database, request: Request<'organization_id'>) {
  const query = kysely.selectFrom('workspaces').selectAll();
  return pageOf(query, request, [['organization_id'], ['created_at'], ['id']]);
}

/** Users with their subjects, each with its issuer. */
export function listUsers({ kysely }: Database, request: Request<'id'>) {
  const subjects = sql<{ issuer: string; subject: string }[]>`(
    select coalesce(json_agg(json_build_object('issuer', issuer, 'subject', subject) order by issuer, subject), '[]')
    from user_subjects where user_id = users.id)`;
  const query = kysely.selectFrom('users').selectAll().select(subjects.as('subjects'));
  return pageOf(query, request, [['created_at'], ['id']]);
}

/** Members of one workspace, or memberships of one user, or all of them, including removed ones. */
export function listMembers({ kysely }: Database, request: Request<'workspace_id' | 'user_id'>) {
  const query = kysely
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'user_id')
    .select(['workspace_id', 'user_id', 'users.name as user_name'])
    .select(['members.created_at', 'removed_at']);
  return pageOf(query, request, [['workspace_id'], ['members.created_at'], ['user_id']]);
}

/** Interns of one workspace or of all, newest first, whether or not the workspace is in the programme. */
export function listAllInterns({ kysely }: Database, request: Request<'workspace_id' | 'status'>) {
  const query = kysely.selectFrom('interns').selectAll();
  return pageOf(query, request, [
    ['created_at', 'desc'],
    ['id', 'desc'],
  ]);
}

/** API keys, of which only hash and label are stored. */
export function listApiKeys({ kysely }: Database, request: Request<'organization_id'>) {
  const query = kysely.selectFrom('api_keys').selectAll();
  return pageOf(query, request, [['organization_id'], ['created_at'], ['hash']]);
}

/** Signing keys without their seeds, including retired ones, the newest interval first. */
export function listSigningKeys({ kysely }: Database, request: Request<'intern_id'>) {
  const query = kysely
    .selectFrom('signing_keys')
    .select(['id', 'intern_id', 'kid', 'not_before', 'expires_at', 'created_at', 'retired_at']);
  return pageOf(query, request, [['intern_id'], ['not_before', 'desc'], ['id']]);
}

/** Provider credentials without their keys. */
export function listAllCredentials({ kysely }: Database, request: Request<'organization_id' | 'provider'>) {
  const query = kysely
    .selectFrom('byok_credentials')
    .select(['id', 'label', 'provider', 'name', 'organization_id', 'workspace_id', 'disabled'])
    .select(['is_fallback', 'is_required', 'is_byok_only', 'sort_order', 'declared_region', 'declared_zdr'])
    .select(['allowed_api_key_hashes', 'allowed_models', 'allowed_user_ids', 'created_at']);
  return pageOf(query, request, [['organization_id'], ['sort_order'], ['created_at'], ['id']]);
}
