import { requireManager } from '../callers/caller.ts';
import { jsonOperation, type Operation } from '../operation.ts';
import { PageQuery, renderPage } from '../page.ts';
import { listOrganizationMembers, type PersonRow } from '../workspaces/member-queries.ts';
import { type OrganizationMember, OrganizationMemberPage } from './shape.ts';

const listMembers = jsonOperation({
  operationId: 'listOrganizationMembers',
  family: 'Organization',
  permit: requireManager,
  method: 'GET',
  path: '/organization/members',
  summary: "List the organization's members",
  description: 'Everybody who is a member of one of its workspaces, once, by id.',
  returns: 'A page of members.',
  query: PageQuery,
  result: OrganizationMemberPage,
  invalidExample: { query: 'limit=101' },
  async run({ principal, query }, { db }) {
    return renderPage(await listOrganizationMembers(db, principal, query), renderPerson);
  },
});

function renderPerson({ id, name, email }: PersonRow): OrganizationMember {
  return { id, email: email ?? '', first_name: name, last_name: null, role: 'org:member' };
}

export const ORGANIZATION_OPERATIONS: readonly Operation[] = [listMembers];
