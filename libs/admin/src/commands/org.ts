import {
  createOrganization,
  deleteOrganization,
  listOrganizations,
  renameOrganization,
} from '@ori/store/admin';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { examples } from '../help.ts';
import { addList, addYes, type ListOptions, requireYes } from '../options.ts';

export function addOrganizationCommands(program: Command, context: () => Context): void {
  const org = program.command('org').description('organizations');

  org
    .command('create')
    .description('create an organization; prints its id')
    .argument('<name>')
    .option('--id <id>', 'use this id instead of a generated one')
    .addHelpText('after', examples('org=$(ori-admin org create "Analytical Engines")'))
    .action(async (name: string, options: { id?: string }) => {
      const admin = context();
      const made = await admin.withDatabase((db) => createOrganization(db, { name, id: options.id }));
      admin.report(made, { lines: [made.id], note: `Created the organization ${name}.` });
    });

  addList(org, 'list organizations').action(async (options: ListOptions) => {
    const admin = context();
    const listed = await admin.withDatabase((db) => listOrganizations(db, options));
    admin.reportList(listed, ['id', 'name', 'workspaces', 'created'], (row) => [
      row.id,
      row.name,
      row.workspaces,
      row.created_at,
    ]);
  });

  org
    .command('rename')
    .description('rename an organization')
    .argument('<organization>', 'id of the organization')
    .argument('<name>')
    .action(async (organizationId: string, name: string) => {
      const admin = context();
      await admin.withDatabase((db) => renameOrganization(db, { organizationId, name }));
      admin.report({ id: organizationId, name }, { note: `Renamed to ${name}.` });
    });

  addYes(
    org
      .command('delete')
      .description('delete an empty organization')
      .argument('<organization>', 'id of the organization'),
  ).action(async (organizationId: string, options: { yes?: true }) => {
    requireYes(options, `This deletes the organization ${organizationId}.`);
    const admin = context();
    await admin.withDatabase((db) => deleteOrganization(db, { organizationId }));
    admin.report({ id: organizationId, deleted: true }, { note: 'Deleted.' });
  });
}
