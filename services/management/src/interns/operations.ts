import { z } from 'zod';
import { found, type InternReader, notFound, requireInternReader } from '../callers/caller.ts';
import { fileOperation, jsonOperation, type Operation } from '../operation.ts';
import { readCursor, renderCursor } from './cursor.ts';
import { findIcon, findIntern, type InternRow, listInterns } from './queries.ts';
import { Intern, InternListQuery, InternPage } from './shape.ts';

const common = { family: 'Interns', permit: requireInternReader, refusals: [403, 404] } as const;

const list = jsonOperation({
  ...common,
  operationId: 'listInterns',
  method: 'GET',
  path: '/interns',
  summary: 'List interns',
  description:
    "The interns visible to the caller, newest first. `status` accepts several lifecycle statuses, separated by commas. A `workspace_id` that is not visible to the caller gets 404. A session lists the interns of every workspace of which the person is a member; an intern's own key has no list and gets 404.",
  returns: 'A page of interns.',
  query: InternListQuery,
  result: InternPage,
  invalidExample: { query: 'limit=501' },
  async run({ principal, query }, { db }) {
    const after = query.starting_after === undefined ? undefined : readCursor(query.starting_after);
    const scope = collectionOf(principal, query.workspace_id);
    const rows = await listInterns(db, scope, {
      limit: query.limit + 1,
      ...(query.status && { statuses: query.status }),
      ...(after && { after }),
    });
    const page = rows.slice(0, query.limit);
    const last = page.at(-1);
    const more = rows.length > page.length && last !== undefined;
    return {
      data: page.map((row) => renderIntern(row, principal)),
      has_more: more,
      ...(more && { next_cursor: renderCursor({ createdAt: last.created_at.toISOString(), id: last.id }) }),
    };
  },
});

const get = jsonOperation({
  ...common,
  operationId: 'getIntern',
  method: 'GET',
  path: '/interns/{internId}',
  summary: 'Get an intern',
  description: "An intern that is visible to the caller. An intern's own key sees itself.",
  returns: 'The intern.',
  result: Intern,
  async run({ principal, id }, { db }) {
    return renderIntern(found(await findIntern(db, principal, id)), principal);
  },
});

const icon = fileOperation({
  ...common,
  operationId: 'getInternIcon',
  method: 'GET',
  path: '/interns/{internId}/icon',
  summary: "Fetch an intern's icon",
  description:
    'With `v`, the expected `icon_sha256`, the answer may be cached forever; a `v` other than the current hash gets 404.',
  returns: 'The icon, byte for byte as stored.',
  query: z.object({
    v: z
      .string()
      .optional()
      .meta({ description: 'The expected `icon_sha256`; the answer may then be cached forever.' }),
  }),
  mediaTypes: ['image/png', 'image/jpeg', 'image/webp'],
  async run({ principal, id, query }, { db }) {
    const { sha256, mediaType, bytes } = found(await findIcon(db, principal, id));
    if (query.v !== undefined && query.v !== sha256) throw notFound();
    const headers = {
      'content-type': mediaType,
      'x-content-type-options': 'nosniff',
      etag: `"${sha256}"`,
      'cache-control': query.v === undefined ? 'private, no-cache' : 'private, max-age=31536000, immutable',
    };
    return { headers, bytes };
  },
});

export const INTERN_OPERATIONS: readonly Operation[] = [list, get, icon];

/**
 * The interns to list. An intern's own key has no collection, and a workspace that is not visible counts as missing.
 */
function collectionOf(
  reader: InternReader,
  workspaceId: string | undefined,
): { workspaceIds: readonly string[] } {
  if (reader.internId !== undefined) throw notFound();
  if (workspaceId === undefined) return { workspaceIds: reader.workspaceIds };
  if (!reader.workspaceIds.includes(workspaceId)) throw notFound();
  return { workspaceIds: [workspaceId] };
}

/** The columns that are not shown. A column that is neither here nor in the shape is a compile error. */
const HIDDEN = {
  organization_id: undefined,
  answer_keys: undefined,
  created_by_user_id: undefined,
  created_by_key_hash: undefined,
} satisfies Record<Exclude<keyof InternRow, keyof Intern>, undefined>;

export function renderIntern(row: InternRow, reader: InternReader): Intern {
  return {
    ...row,
    ...HIDDEN,
    created_by_you:
      (reader.keyHash !== undefined && reader.keyHash === row.created_by_key_hash) ||
      (reader.userId !== undefined && reader.userId === row.created_by_user_id),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
