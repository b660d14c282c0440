import { listOrganizations } from '@ori/administration/lists';
import { deleteOrganization } from '@ori/administration/organizations';
import type { Command } from '../command.ts';
import { addList, confirmed, listing } from '../options.ts';

export function addOrganizationCommands(program: Command): void {
  const org = program.command('org').description('organizations');

  addList(org, 'list organizations').does(
    listing(listOrganizations, (row) => ({
      id: row.id,
      name: row.name,
      workspaces: row.workspaces,
      'turns per user': row.turns_per_user ?? 'default',
      turns: row.turns_per_organization ?? 'default',
      created: row.created_at,
    })),
  );

  confirmed(org.command('delete'), (id) => `This deletes the organization ${id}.`)
    .description('delete an empty organization')
    .argument('<organization>', 'id of the organization')
    .does(async (admin, organizationId: string) => {
      await admin.withDatabase((db) => deleteOrganization(db, { organizationId }));
      admin.report({ id: organizationId, deleted: true }, { note: 'Deleted.' });
    });
}
