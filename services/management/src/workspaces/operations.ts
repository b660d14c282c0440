import { requireManager } from '../callers/caller.ts';
import { Deleted } from '../fields.ts';
import { jsonOperation, type Operation } from '../operation.ts';
import { PageQuery, renderPage } from '../page.ts';
import { addWorkspaceMembers, listWorkspaceMembers, removeWorkspaceMembers } from './member-queries.ts';
import {
  changeWorkspaceRecord,
  createWorkspaceRecord,
  deleteWorkspaceRecord,
  findWorkspaceRecord,
  listWorkspaces,
} from './queries.ts';
import { renderMember, renderWorkspace } from './render.ts';
import {
  MembersAdded,
  MembersRemoved,
  UserSelection,
  WorkspaceCreate,
  WorkspaceDeletion,
  WorkspaceMemberPage,
  WorkspacePage,
  WorkspaceRecord,
  WorkspaceUpdate,
} from './shape.ts';

const family = 'Workspaces';
const permit = requireManager;
const all = { family, permit, path: '/workspaces' } as const;
const one = { family, permit, path: '/workspaces/{id}' } as const;

const list = jsonOperation({
  ...all,
  operationId: 'listWorkspaces',
  method: 'GET',
  summary: 'List workspaces',
  description: 'The workspaces of the account, newest first. Deleted ones are not listed.',
  returns: 'A page of workspaces.',
  query: PageQuery,
  result: WorkspacePage,
  invalidExample: { query: 'limit=101' },
  async run({ principal, query }, { db }) {
    return renderPage(await listWorkspaces(db, principal, query), renderWorkspace);
  },
});

const create = jsonOperation({
  ...all,
  operationId: 'createWorkspace',
  method: 'POST',
  summary: 'Create a workspace',
  description:
    'It is outside the interns programme until an operator adds it. The person to whom the management key belongs is its first member. A `slug` that another workspace of the account has is refused with 400.',
  returns: 'The workspace.',
  body: WorkspaceCreate,
  status: 201,
  result: WorkspaceRecord,
  refusals: [403],
  invalidExample: { body: { name: 'Workshop', slug: 'Work Shop' } },
  async run({ principal, body }, { db }) {
    return { data: renderWorkspace(await createWorkspaceRecord(db, principal, body)) };
  },
});

const get = jsonOperation({
  ...one,
  operationId: 'getWorkspace',
  method: 'GET',
  summary: 'Get a workspace',
  description: 'A workspace by its id or its slug.',
  returns: 'The workspace.',
  result: WorkspaceRecord,
  refusals: [404],
  async run({ principal, id: idOrSlug }, { db }) {
    return { data: renderWorkspace(await findWorkspaceRecord(db, principal, idOrSlug)) };
  },
});

const update = jsonOperation({
  ...one,
  operationId: 'updateWorkspace',
  method: 'PATCH',
  summary: 'Change a workspace',
  description: 'Omitted fields keep their value; a `description` of `null` clears it.',
  returns: 'The updated workspace.',
  body: WorkspaceUpdate,
  result: WorkspaceRecord,
  refusals: [403, 404],
  invalidExample: { body: { slug: '-' } },
  async run({ principal, id: idOrSlug, body }, { db }) {
    const { id } = await findWorkspaceRecord(db, principal, idOrSlug);
    return { data: renderWorkspace(await changeWorkspaceRecord(db, principal, id, body)) };
  },
});

const remove = jsonOperation({
  ...one,
  operationId: 'deleteWorkspace',
  method: 'DELETE',
  summary: 'Delete a workspace',
  description:
    'Its interns are hidden, and its sessions refused. Its provider credentials and guardrails stay stored, and no operation reaches them any more: delete first what is to be gone. A workspace with API keys that are not disabled is refused with 400: delete the keys first. The default workspace requires `confirm_default_workspace_deletion`; an account has no default workspace after that.',
  returns: 'The workspace was deleted.',
  query: WorkspaceDeletion,
  result: Deleted,
  refusals: [403, 404],
  invalidExample: { query: 'confirm_default_workspace_deletion=yes' },
  async run({ principal, id: idOrSlug, query }, { db }) {
    const { id } = await findWorkspaceRecord(db, principal, idOrSlug);
    const defaultToo = query.confirm_default_workspace_deletion;
    await deleteWorkspaceRecord(db, principal, id, { defaultToo });
    return { deleted: true as const };
  },
});

const listMembers = jsonOperation({
  ...one,
  operationId: 'listWorkspaceMembers',
  method: 'GET',
  path: '/workspaces/{id}/members',
  summary: "List a workspace's members",
  description: 'By user id. Former members are not listed.',
  returns: 'A page of members.',
  query: PageQuery,
  result: WorkspaceMemberPage,
  refusals: [403, 404],
  invalidExample: { query: 'limit=101' },
  async run({ principal, id: idOrSlug, query }, { db }) {
    const { id: workspaceId } = await findWorkspaceRecord(db, principal, idOrSlug);
    return renderPage(await listWorkspaceMembers(db, principal, { ...query, workspaceId }), renderMember);
  },
});

const addMembers = jsonOperation({
  ...one,
  operationId: 'bulkAddWorkspaceMembers',
  method: 'POST',
  path: '/workspaces/{id}/members/add',
  summary: 'Add members to a workspace',
  description:
    'At most 1000 people who are, or once were, members of the organization; an operator adds anybody else. All or nothing. Repeats count once; members already count as added.',
  returns: 'The memberships.',
  body: UserSelection,
  result: MembersAdded,
  refusals: [403, 404],
  invalidExample: { body: { user_ids: [] } },
  async run({ principal, id: idOrSlug, body }, { db }) {
    const { id } = await findWorkspaceRecord(db, principal, idOrSlug);
    const rows = await addWorkspaceMembers(db, principal, id, body.user_ids);
    return { added_count: rows.length, data: rows.map(renderMember) };
  },
});

const removeMembers = jsonOperation({
  ...one,
  operationId: 'bulkRemoveWorkspaceMembers',
  method: 'POST',
  path: '/workspaces/{id}/members/remove',
  summary: 'Remove members from a workspace',
  description:
    'At most 1000. They are refused in the workspace within two seconds. People who are no members are not counted.',
  returns: 'The number of removed members.',
  body: UserSelection,
  result: MembersRemoved,
  refusals: [403, 404],
  invalidExample: { body: { user_ids: [] } },
  async run({ principal, id: idOrSlug, body }, { db }) {
    const { id } = await findWorkspaceRecord(db, principal, idOrSlug);
    return { removed_count: await removeWorkspaceMembers(db, principal, id, body.user_ids) };
  },
});

export const WORKSPACE_OPERATIONS: readonly Operation[] = [
  ...[list, create, get, update, remove],
  ...[listMembers, addMembers, removeMembers],
];
