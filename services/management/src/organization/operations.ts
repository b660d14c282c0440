import type { PersonRow } from '@ori/store/management';
import { requireManager } from '../callers/caller.ts';
import { jsonOperation, type Operation } from '../http/operation.ts';
import { PageQuery, renderPage } from '../page.ts';
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
  async run({ principal, query }, { store }) {
    return renderPage(await store.listOrganizationMembers(principal, query), renderPerson);
  },
});

function renderPerson({ id, name, email }: PersonRow): OrganizationMember {
  return { id, email: email ?? '', first_name: name, last_name: null, role: 'org:member' };
}

export const ORGANIZATION_OPERATIONS: readonly Operation[] = [listMembers];
