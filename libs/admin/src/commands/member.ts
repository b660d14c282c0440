import { addMember, listMembers, removeMember, revokeSessions } from '@ori/store/admin';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { examples } from '../help.ts';
import { addList, type ListOptions, listing, toDate, unixSeconds } from '../options.ts';

interface RevokeOptions {
  workspace?: string;
  before?: number;
}

export function addMemberCommands(program: Command, context: () => Context): void {
  const member = program.command('member').description('members of workspaces');

  for (const [verb, description, change, note] of [
    ['add', 'add a user to a workspace, including one who was removed', addMember, 'Added.'],
    [
      'remove',
      'remove a user from a workspace, who is then refused within two seconds',
      removeMember,
      'Removed.',
    ],
  ] as const) {
    member
      .command(verb)
      .description(description)
      .argument('<workspace>', 'id of the workspace')
      .argument('<user>', 'id of the user')
      .action(async (workspaceId: string, userId: string) => {
        const admin = context();
        await admin.withDatabase((db) => change(db, { workspaceId, userId }));
        admin.report({ workspace_id: workspaceId, user_id: userId, member: verb === 'add' }, { note });
      });
  }

  addList(member, 'list members, including removed ones')
    .option('--workspace <id>', 'only those of this workspace')
    .option('--user <id>', 'only of this user')
    .action(
      listing(
        context,
        (db, { limit, workspace, user }: ListOptions<'workspace' | 'user'>) =>
          listMembers(db, { limit, workspace_id: workspace, user_id: user }),
        (row) => ({
          workspace: row.workspace_id,
          user: row.user_id,
          name: row.user_name,
          since: row.created_at,
          removed: row.removed_at,
          'sessions valid from': toDate(row.sessions_valid_from),
        }),
      ),
    );

  member
    .command('revoke-sessions')
    .description('revoke the sessions of a user that began before now; the user has to sign in again')
    .argument('<user>', 'id of the user')
    .option('--workspace <id>', 'only in this workspace')
    .option('--before <seconds>', 'only sessions that began before this time, in Unix seconds', unixSeconds)
    .addHelpText('after', examples('ori-admin member revoke-sessions user_7Qm2'))
    .action(async (userId: string, { workspace, before }: RevokeOptions) => {
      const admin = context();
      const { validFrom } = await admin.withDatabase((db) =>
        revokeSessions(db, { userId, workspaceId: workspace, validFrom: before }),
      );
      admin.report(
        { user_id: userId, sessions_valid_from: validFrom },
        { note: `Revoked the sessions that began before ${new Date(validFrom * 1000).toISOString()}.` },
      );
    });
}
