import { addMember, listMembers, removeMember, revokeSessions } from '@ori/store/admin';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { examples } from '../help.ts';
import { addList, type ListOptions, unixSeconds } from '../options.ts';

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
    .action(async ({ limit, workspace, user }: ListOptions & { workspace?: string; user?: string }) => {
      const admin = context();
      const listed = await admin.withDatabase((db) =>
        listMembers(db, { limit, workspaceId: workspace, userId: user }),
      );
      admin.reportList(
        listed,
        ['workspace', 'user', 'name', 'since', 'removed', 'sessions valid from'],
        (row) => [
          row.workspace_id,
          row.user_id,
          row.user_name,
          row.created_at,
          row.removed_at,
          row.sessions_valid_from === null ? null : new Date(row.sessions_valid_from * 1000),
        ],
      );
    });

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
