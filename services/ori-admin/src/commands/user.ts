import { endingKeys } from '@ori/administration/ended-keys';
import { listUsers } from '@ori/administration/lists';
import { clearRevokedSessions, revokeSessions } from '@ori/administration/sessions';
import { addSubject, deleteUser, disableUser, enableUser, removeSubject } from '@ori/administration/users';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { reportEnding } from '../ended-keys.ts';
import { UsageError } from '../failure.ts';
import { addList, confirmed, type ListOptions, listing, toDate, unixSeconds } from '../options.ts';

interface RevokeOptions {
  before?: number;
  clear?: true;
  yes?: true;
}

export function addUserCommands(program: Command): void {
  const user = program.command('user').description('users and their OpenID subjects');

  addList(user, 'list users with their subjects')
    .option('--user <id>', 'only this one')
    .does(
      listing(
        (db, { limit, after, user: id }: ListOptions<'user'>) => listUsers(db, { limit, after, id }),
        (row) => ({
          id: row.id,
          name: row.name,
          created: row.created_at,
          disabled: row.disabled_at,
          'sessions valid from': toDate(row.sessions_valid_from),
          subjects: row.subjects.map(({ issuer, subject }) => `${subject} (${issuer})`).join(', '),
        }),
      ),
    );

  user
    .command('disable')
    .description('refuse every request of the user and of their keys, within two seconds; prints those keys')
    .argument('<user>', 'id of the user')
    .does(async (admin, userId: string) => {
      const keys = await admin.withDatabase((db) =>
        endingKeys(db, { userId }, (trx) => disableUser(trx, { userId })),
      );
      reportEnding(admin, { id: userId, disabled: true }, 'Disabled.', keys);
    });

  user
    .command('enable')
    .description('accept requests of the user and of their keys again')
    .argument('<user>', 'id of the user')
    .does(async (admin, userId: string) => {
      await admin.withDatabase((db) => enableUser(db, { userId }));
      admin.report({ id: userId, disabled: false }, { note: 'Enabled.' });
    });

  user
    .command('link')
    .description('accept tokens with this `sub` as those of the user, who may have several')
    .argument('<user>', 'id of the user')
    .argument('<subject>', '`sub`, exactly as in the tokens')
    .option('--issuer <url>', 'issuer of the tokens (default: ORI_ADMIN_ISSUER)')
    .does(async (admin, userId: string, subject: string, options: { issuer?: string }) => {
      const issuer = issuerOf(admin, options);
      await admin.withDatabase((db) => addSubject(db, { userId, issuer, subject }));
      admin.report(
        { id: userId, issuer, subject },
        { note: `Tokens of ${subject} from ${issuer} are accepted as those of the user.` },
      );
    });

  user
    .command('unlink')
    .description('refuse tokens with this `sub`')
    .argument('<subject>', '`sub`, exactly as in the tokens')
    .option('--issuer <url>', 'issuer of the tokens (default: ORI_ADMIN_ISSUER)')
    .does(async (admin, subject: string, options: { issuer?: string }) => {
      const issuer = issuerOf(admin, options);
      await admin.withDatabase((db) => removeSubject(db, { issuer, subject }));
      admin.report({ issuer, subject, removed: true }, { note: 'Removed.' });
    });

  user
    .command('revoke-sessions')
    .description('revoke the sessions of a user that began before now; the user has to sign in again')
    .argument('<user>', 'id of the user')
    .option('--before <seconds>', 'only sessions that began before this time, in Unix seconds', unixSeconds)
    .option('--clear', 'undo it: accept sessions whenever they began')
    .option('--yes', 'confirm')
    .examples(
      'ori-admin user revoke-sessions user_7Qm2 --yes',
      'ori-admin user revoke-sessions user_7Qm2 --clear',
    )
    .does(async (admin, userId: string, { before, clear, yes }: RevokeOptions) => {
      if (clear && before !== undefined) throw new UsageError('Give --clear or --before, not both.');
      if (!clear && !yes) throw new UsageError(WARNING, 'To confirm, repeat with --yes.');
      const { validFrom, changed } = await admin.withDatabase((db) =>
        clear ? clearRevokedSessions(db, { userId }) : revokeSessions(db, { userId, validFrom: before }),
      );
      const from = toDate(validFrom)?.toISOString();
      const state =
        from === undefined ? 'No session is revoked' : `Sessions that began before ${from} are revoked`;
      const was = changed ? '' : ', as before: nothing was changed';
      admin.report({ id: userId, sessions_valid_from: validFrom, changed }, { note: `${state}${was}.` });
    });

  confirmed(
    user.command('delete'),
    (id) => `This deletes the user ${id}; to refuse their requests, use disable.`,
  )
    .description('delete a user with their subjects, memberships and keys; prints those keys')
    .argument('<user>', 'id of the user')
    .does(async (admin, userId: string) => {
      const keys = await admin.withDatabase((db) =>
        endingKeys(db, { userId }, (trx) => deleteUser(trx, { userId })),
      );
      reportEnding(admin, { id: userId, deleted: true }, 'Deleted.', keys);
    });
}

const WARNING =
  'This also refuses every token of the user that does not say when they signed in (auth_time), even after they sign in again; where signer_tokens_without_auth_time_total rises, the issuer gives such tokens. To undo it: --clear. Nothing was done.';

function issuerOf(admin: Context, { issuer }: { issuer?: string }): string {
  // Read together with the database address, so that both errors are reported.
  if (issuer === undefined) return admin.config('databaseUrl', 'issuer').issuer;
  return issuer;
}
