import { createWorkspace, deleteWorkspace, listWorkspaces, setDefaultWorkspace } from '@ori/store/admin';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { examples } from '../help.ts';
import { addList, addYes, type ListOptions, requireYes } from '../options.ts';

interface CreateOptions {
  organization: string;
  id?: string;
  default?: true;
  programme?: true;
}

export function addWorkspaceCommands(program: Command, context: () => Context): void {
  const workspace = program.command('workspace').description('workspaces of an organization');

  workspace
    .command('create')
    .description('create a workspace; prints its id')
    .argument('<name>')
    .requiredOption('--organization <id>', 'organization that owns the workspace')
    .option('--default', 'make it the default workspace of the organization')
    .option('--programme', 'add it to the interns programme')
    .option('--id <id>', 'use this id instead of a generated one')
    .addHelpText(
      'after',
      examples('ws=$(ori-admin workspace create Workshop --organization "$org" --default --programme)'),
    )
    .action(async (name: string, options: CreateOptions) => {
      const admin = context();
      const made = await admin.withDatabase((db) =>
        createWorkspace(db, {
          name,
          organizationId: options.organization,
          isDefault: options.default,
          inProgramme: options.programme,
          id: options.id,
        }),
      );
      admin.report(made, { lines: [made.id], note: `Created the workspace ${name}.` });
    });

  addList(workspace, 'list workspaces, including deleted ones')
    .option('--organization <id>', 'only those of this organization')
    .action(async ({ limit, organization }: ListOptions & { organization?: string }) => {
      const admin = context();
      const listed = await admin.withDatabase((db) =>
        listWorkspaces(db, { limit, organizationId: organization }),
      );
      admin.reportList(
        listed,
        ['id', 'name', 'organization', 'default', 'programme', 'created', 'deleted'],
        (row) => [
          row.id,
          row.name,
          row.organization_id,
          row.is_default,
          row.in_programme,
          row.created_at,
          row.deleted_at,
        ],
      );
    });

  workspace
    .command('set-default')
    .description('make it the default workspace of its organization, instead of the current one')
    .argument('<workspace>', 'id of the workspace')
    .action(async (workspaceId: string) => {
      const admin = context();
      await admin.withDatabase((db) => setDefaultWorkspace(db, { workspaceId }));
      admin.report({ id: workspaceId, is_default: true }, { note: 'Set as the default workspace.' });
    });

  addYes(
    workspace
      .command('delete')
      .description('delete a workspace: its interns are hidden and its sessions refused')
      .argument('<workspace>', 'id of the workspace'),
  ).action(async (workspaceId: string, options: { yes?: true }) => {
    requireYes(options, `This deletes the workspace ${workspaceId}.`);
    const admin = context();
    await admin.withDatabase((db) => deleteWorkspace(db, { workspaceId }));
    admin.report({ id: workspaceId, deleted: true }, { note: 'Deleted.' });
  });
}
