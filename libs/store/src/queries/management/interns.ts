import { type Selectable, sql } from 'kysely';
import type { Database } from '../../database.ts';
import type { IconMediaType, InternProgress, InternStatus, InternsTable } from '../../schema.ts';
import { asTenant } from './tenant.ts';

/** Whose interns: those of these workspaces, or of them one alone. */
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
  /** The last intern of the page before. */
  readonly after?: { readonly createdAt: string; readonly id: string };
}

/**
 * The newest interns after a position. Every workspace (and status, where asked for) is walked along its own
 * index from that position, so a page costs the same wherever it lies.
 */
export function listInterns(db: Database, scope: InternScope, listing: InternListing): Promise<InternRow[]> {
  const { limit, statuses, after } = listing;
  const older =
    after === undefined
      ? sql`true`
      : sql`(i.created_at, i.id) < (${after.createdAt}::timestamptz, ${after.id})`;
  const streams =
    statuses === undefined
      ? sql`unnest(${scope.workspaceIds}::text[]) as stream (workspace_id)`
      : sql`unnest(${scope.workspaceIds}::text[]) as stream (workspace_id),
          unnest(${statuses}::text[]) as wanted (status)`;
  const ofStream =
    statuses === undefined
      ? sql`i.workspace_id = stream.workspace_id`
      : sql`i.workspace_id = stream.workspace_id and i.status = wanted.status`;
  return asTenant(db, scope, async (trx) => {
    const { rows } = await sql<InternRow>`
      select newest.* from ${streams},
        lateral (
          select i.* from interns i where ${ofStream} and ${older}
          order by i.created_at desc, i.id desc limit ${limit}
        ) newest
      order by created_at desc, id desc limit ${limit}`.execute(trx);
    return rows;
  });
}

export interface IconRow {
  readonly sha256: string;
  readonly mediaType: IconMediaType;
  readonly bytes: Uint8Array;
}

/** The icon of a visible intern; undefined when the intern is not visible or has none. */
export function findIcon(db: Database, scope: InternScope, internId: string): Promise<IconRow | undefined> {
  return asTenant(db, scope, async (trx) => {
    const row = await trx
      .selectFrom('interns as i')
      .innerJoin('intern_icons as icon', 'icon.intern_id', 'i.id')
      .select(['icon.sha256', 'icon.media_type', 'icon.bytes'])
      .where('i.id', '=', internId)
      .where('i.workspace_id', 'in', scope.workspaceIds.length === 0 ? [''] : [...scope.workspaceIds])
      .where('i.id', '=', scope.internId ?? internId)
      .executeTakeFirst();
    return row && { sha256: row.sha256, mediaType: row.media_type, bytes: row.bytes };
  });
}
