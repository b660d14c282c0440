import {
  addSubject,
  createUser,
  deleteUser,
  disableUser,
  enableUser,
  listUsers,
  removeSubject,
} from '@ori/store/admin';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { examples } from '../help.ts';
import { addList, addYes, given, type ListOptions, requireYes } from '../options.ts';

export function addUserCommands(program: Command, context: () => Context): void {
  const user = program.command('user').description('people, and the OpenID subjects that speak for them');

  user
    .command('create')
    .description('make a user; prints its id')
    .argument('<name>')
    .option('--id <id>', 'an id of your own')
    .option('--subject <subject>', '`sub` in the tokens of the issuer')
    .option('--issuer <url>', 'the issuer of the subject (ORI_ADMIN_ISSUER)')
    .addHelpText('after', examples('ada=$(ori-admin user create Ada --subject auth0|5f7c…)'))
    .action(async (name: string, options: { id?: string; subject?: string; issuer?: string }) => {
      const admin = context();
      const { subject } = options;
      const issuer = subject === undefined ? undefined : issuerOf(admin, options);
      const made = await admin.withDatabase(async (db) => {
        const { id } = await createUser(db, { name, ...given({ id: options.id }) });
        if (subject === undefined || issuer === undefined) return { id };
        // Without its subject the user would be left behind, and a second try would make another.
        await addSubject(db, { userId: id, issuer, subject }).catch(async (error: unknown) => {
          await deleteUser(db, { userId: id });
          throw error;
        });
        return { id, issuer, subject };
      });
      admin.report(made, { lines: [made.id], note: `Made the user ${name}.` });
    });

  addList(user, 'list the users with their subjects')
    .option('--user <id>', 'only this one')
    .action(async ({ limit, user: userId }: ListOptions & { user?: string }) => {
      const admin = context();
      const listed = await admin.withDatabase((db) => listUsers(db, { limit, ...given({ userId }) }));
      admin.reportList(listed, ['id', 'name', 'created', 'disabled', 'subjects'], (row) => [
        row.id,
        row.name,
        row.created_at,
        row.disabled_at,
        (row.subjects ?? []).map(({ issuer, subject }) => `${subject} (${issuer})`).join(', '),
      ]);
    });

  for (const [verb, change, disabled] of [
    ['disable', disableUser, true],
    ['enable', enableUser, false],
  ] as const) {
    user
      .command(verb)
      .description(
        disabled ? 'refuse everything the user asks for, within two seconds' : 'take back a disable',
      )
      .argument('<user>', 'id of the user')
      .action(async (userId: string) => {
        const admin = context();
        await admin.withDatabase((db) => change(db, { userId }));
        admin.report({ id: userId, disabled }, { note: disabled ? 'Disabled.' : 'Enabled.' });
      });
  }

  user
    .command('add-subject')
    .description('say that tokens with this `sub` speak for the user')
    .argument('<user>', 'id of the user')
    .argument('<subject>', '`sub`, exactly as in the tokens')
    .option('--issuer <url>', 'whose tokens (ORI_ADMIN_ISSUER)')
    .action(async (userId: string, subject: string, options: { issuer?: string }) => {
      const admin = context();
      const issuer = issuerOf(admin, options);
      await admin.withDatabase((db) => addSubject(db, { userId, issuer, subject }));
      admin.report({ id: userId, issuer, subject }, { note: `${subject} of ${issuer} speaks for the user.` });
    });

  user
    .command('remove-subject')
    .description('say that tokens with this `sub` speak for nobody')
    .argument('<subject>', '`sub`, exactly as in the tokens')
    .option('--issuer <url>', 'whose tokens (ORI_ADMIN_ISSUER)')
    .action(async (subject: string, options: { issuer?: string }) => {
      const admin = context();
      const issuer = issuerOf(admin, options);
      await admin.withDatabase((db) => removeSubject(db, { issuer, subject }));
      admin.report({ issuer, subject, removed: true }, { note: 'Removed.' });
    });

  addYes(
    user
      .command('delete')
      .description('delete a user with its subjects and memberships')
      .argument('<user>', 'id of the user'),
  ).action(async (userId: string, options: { yes?: true }) => {
    requireYes(options, `This deletes the user ${userId}; to keep someone out, disable is enough.`);
    const admin = context();
    await admin.withDatabase((db) => deleteUser(db, { userId }));
    admin.report({ id: userId, deleted: true }, { note: 'Deleted.' });
  });
}

function issuerOf(admin: Context, { issuer }: { issuer?: string }): string {
  // Together with the address of the database, so that both complaints come at once.
  if (issuer === undefined) return admin.config('databaseUrl', 'issuer').issuer;
  return issuer;
}
