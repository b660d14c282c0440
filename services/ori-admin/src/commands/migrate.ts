import { migrate } from '@ori/store/migrate';
import { type Command, examples } from '../command.ts';

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('migrate the database to this version, in one transaction')
    .addHelpText(
      'after',
      `
The login must own the database, and may create roles that cannot log in: ori_signer, ori_management, ori_operator
and ori_auditor.
A database that has other contents than those of ori is refused.
${examples('ORI_ADMIN_DATABASE_URL=postgres://owner:…@db/ori ori-admin migrate')}`,
    )
    .does(async (admin) => {
      admin.progress.show('migrating …');
      const { applied } = await admin
        .withDatabase((db) => migrate(db), { statementTimeoutMs: 0 })
        .finally(admin.progress.end);
      const note =
        applied.length === 0 ? 'The database is already at this version.' : `Applied ${applied.length}.`;
      admin.report({ applied }, { lines: applied, note });
    });
}
