import { endingKeys } from '@ori/administration/ended-keys';
import { listMembers } from '@ori/administration/lists';
import { removeMember } from '@ori/administration/members';
import type { Command } from '../command.ts';
import { reportEnding } from '../ended-keys.ts';
import { addList, type ListOptions, listing } from '../options.ts';

export function addMemberCommands(program: Command): void {
  const member = program.command('member').description('members of workspaces');

  member
    .command('remove')
    .description(
      'remove a user from a workspace, who is then refused within two seconds, with their keys; prints those keys',
    )
    .argument('<workspace>', 'id of the workspace')
    .argument('<user>', 'id of the user')
    .does(async (admin, workspaceId: string, userId: string) => {
      const keys = await admin.withDatabase((db) =>
        endingKeys(db, { userId }, (trx) => removeMember(trx, { workspaceId, userId })),
      );
      reportEnding(admin, { workspace_id: workspaceId, user_id: userId, member: false }, 'Removed.', keys);
    });

  addList(member, 'list members, including removed ones')
    .option('--workspace <id>', 'only those of this workspace')
    .option('--user <id>', 'only of this user')
    .does(
      listing(
        (db, { limit, after, workspace, user }: ListOptions<'workspace' | 'user'>) =>
          listMembers(db, { limit, after, workspace_id: workspace, user_id: user }),
        (row) => ({
          workspace: row.workspace_id,
          user: row.user_id,
          name: row.user_name,
          since: row.created_at,
          removed: row.removed_at,
        }),
      ),
    );
}
