import type { Database } from '@ori/store/database';
import type { InternProgress, InternsTable, Schema } from '@ori/store/schema';
import { asTenant } from '@ori/store/tenant';
import type { InternStatus } from '@ori/store/vocabulary';
import { type Selectable, sql, type Transaction } from 'kysely';

/** The visible interns: those of these workspaces, or only one of them. */
export interface InternScope {
  readonly workspaceIds: readonly string[];
  readonly internId?: string | undefined;
}

export type InternRow = Omit<Selectable<InternsTable>, 'progress'> & {
  readonly progress: InternProgress | null;
};

export interface InternListing {
  readonly limit: number;
  readonly statuses?: readonly InternStatus[];
  /** The last intern of the previous page. */
  readonly after?: { readonly createdAt: string; readonly id: string };
}

/**
 * The newest interns after a position. It scans the index of every workspace (and of every given status) from there on,
 * so every page reads the same number of rows.
 */
export function listInterns(
  db: Database,
  scope: InternScope,
  { limit, statuses, after }: InternListing,
): Promise<InternRow[]> {
  const older =
    after === undefined
      ? sql`true`
      : sql`(i.created_at, i.id) < (${after.createdAt}::timestamptz, ${after.id})`;
  const workspaces = sql`unnest(${scope.workspaceIds}::text[]) as stream (workspace_id)`;
  const [streams, ofStream] =
    statuses === undefined
      ? [workspaces, sql`i.workspace_id = stream.workspace_id`]
      : [
          sql`${workspaces}, unnest(${statuses}::text[]) as wanted (status)`,
          sql`i.workspace_id = stream.workspace_id and i.status = wanted.status`,
        ];
  const newest = sql<InternRow>`
    select newest.* from ${streams},
      lateral (
        select i.* from interns i where ${ofStream} and ${older}
        order by i.created_at desc, i.id desc limit ${limit}
      ) newest
    order by created_at desc, id desc limit ${limit}`;
  return asTenant(db, scope, async (trx) => (await newest.execute(trx)).rows);
}

export function findIntern(
  db: Database,
  scope: InternScope,
  internId: string,
): Promise<InternRow | undefined> {
  return asTenant(db, scope, (trx) => visible(trx, scope, internId).selectAll('i').executeTakeFirst());
}

const visible = (trx: Transaction<Schema>, scope: InternScope, internId: string) =>
  trx
    .selectFrom('interns as i')
    .where('i.id', '=', internId)
    .where('i.workspace_id', 'in', scope.workspaceIds.length === 0 ? [''] : [...scope.workspaceIds])
    .where('i.id', '=', scope.internId ?? internId);

/** The icon of a visible intern; undefined if the intern is not visible or has none. */
export function findIcon(db: Database, scope: InternScope, internId: string) {
  return asTenant(db, scope, async (trx) => {
    const row = await visible(trx, scope, internId)
      .innerJoin('intern_icons as icon', 'icon.intern_id', 'i.id')
      .select(['icon.sha256', 'icon.media_type', 'icon.bytes'])
      .executeTakeFirst();
    return row && { sha256: row.sha256, mediaType: row.media_type, bytes: row.bytes };
  });
}
