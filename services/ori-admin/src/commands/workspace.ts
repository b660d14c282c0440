import { listWorkspaces } from '@ori/administration/lists';
import { deleteWorkspace } from '@ori/administration/workspaces';
import type { Command } from '../command.ts';
import { addList, confirmed, type ListOptions, listing } from '../options.ts';

export function addWorkspaceCommands(program: Command): void {
  const workspace = program.command('workspace').description('workspaces of an organization');

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

  confirmed(workspace.command('delete'), (id) => `This deletes the workspace ${id}.`)
    .description('delete a workspace: its interns are hidden and its sessions refused')
    .argument('<workspace>', 'id of the workspace')
    .does(async (admin, workspaceId: string) => {
      await admin.withDatabase((db) => deleteWorkspace(db, { workspaceId }));
      admin.report({ id: workspaceId, deleted: true }, { note: 'Deleted.' });
    });
}
