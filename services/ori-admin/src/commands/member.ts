import {
  addMember,
  clearRevokedSessions,
  endingKeys,
  listMembers,
  removeMember,
  revokeSessions,
} from '@ori/store/admin';
import type { Command } from '../command.ts';
import { reportEnding } from '../ended-keys.ts';
import { UsageError } from '../failure.ts';
import { addList, type ListOptions, listing, toDate, unixSeconds } from '../options.ts';

interface RevokeOptions {
  workspace?: string;
  before?: number;
  clear?: true;
  yes?: true;
}

export function addMemberCommands(program: Command): void {
  const member = program.command('member').description('members of workspaces');

  member
    .command('add')
    .description('add a user to a workspace, including one who was removed')
    .argument('<workspace>', 'id of the workspace')
    .argument('<user>', 'id of the user')
    .does(async (admin, workspaceId: string, userId: string) => {
      await admin.withDatabase((db) => addMember(db, { workspaceId, userId }));
      admin.report({ workspace_id: workspaceId, user_id: userId, member: true }, { note: 'Added.' });
    });

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
    .option('--clear', 'undo it: accept sessions whenever they began')
    .option('--yes', 'confirm')
    .examples(
      'ori-admin member revoke-sessions user_7Qm2 --yes',
      'ori-admin member revoke-sessions user_7Qm2 --clear',
    )
    .does(async (admin, userId: string, { workspace, before, clear, yes }: RevokeOptions) => {
      if (clear && before !== undefined) throw new UsageError('Give --clear or --before, not both.');
      if (!clear && !yes) throw new UsageError(WARNING, 'To confirm, repeat with --yes.');
      const outcome = await admin.withDatabase((db) =>
        clear
          ? clearRevokedSessions(db, { userId, workspaceId: workspace })
          : revokeSessions(db, { userId, workspaceId: workspace, validFrom: before }),
      );
      for (const { workspaceId, validFrom, changed } of outcome) {
        const from = toDate(validFrom)?.toISOString();
        const state =
          from === undefined ? 'No session is revoked' : `Sessions that began before ${from} are revoked`;
        const was = changed ? '' : ', as before: nothing was changed';
        admin.report(
          { user_id: userId, workspace_id: workspaceId, sessions_valid_from: validFrom, changed },
          { note: `${state} in ${workspaceId}${was}.` },
        );
      }
    });
}

const WARNING =
  'This also refuses every token of the user that does not say when they signed in (auth_time), even after they sign in again; where signer_tokens_without_auth_time_total rises, the issuer gives such tokens. To undo it: --clear. Nothing was done.';
