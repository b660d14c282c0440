import { createWorkspace, deleteWorkspace, listWorkspaces, setDefaultWorkspace } from '@ori/store/admin';
import type { Command } from '../command.ts';
import { addList, confirmed, type ListOptions, listing } from '../options.ts';

interface CreateOptions {
  organization: string;
  id?: string;
  default?: true;
  programme?: true;
}

export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('workspaces of an organization');

  workspace
    .command('create')
    .description('create a workspace; prints its id')
    .argument('<name>')
    .requiredOption('--organization <id>', 'organization that owns the workspace')
    .option('--default', 'make it the default workspace of the organization')
    .option('--programme', 'add it to the interns programme')
    .option('--id <id>', 'use this id instead of a generated one')
    .examples('ws=$(ori-admin workspace create Workshop --organization "$org" --default --programme)')
    .does(async (admin, name: string, options: CreateOptions) => {
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
    .does(
      listing(
        (db, { limit, after, organization }: ListOptions<'organization'>) =>
          listWorkspaces(db, { limit, after, organization_id: organization }),
        (row) => ({
          id: row.id,
          name: row.name,
          organization: row.organization_id,
          default: row.is_default,
          programme: row.in_programme,
          created: row.created_at,
          deleted: row.deleted_at,
        }),
      ),
    );

  workspace
    .command('set-default')
    .description('make it the default workspace of its organization, instead of the current one')
    .argument('<workspace>', 'id of the workspace')
    .does(async (admin, workspaceId: string) => {
      await admin.withDatabase((db) => setDefaultWorkspace(db, { workspaceId }));
      admin.report({ id: workspaceId, is_default: true }, { note: 'Set as the default workspace.' });
    });

  confirmed(workspace.command('delete'), (id) => `This deletes the workspace ${id}.`)
    .description('delete a workspace: its interns are hidden and its sessions refused')
    .argument('<workspace>', 'id of the workspace')
    .does(async (admin, workspaceId: string) => {
      await admin.withDatabase((db) => deleteWorkspace(db, { workspaceId }));
      admin.report({ id: workspaceId, deleted: true }, { note: 'Deleted.' });
    });
}
