import { setTimeout as pause } from 'node:timers/promises';
import { StoreUnavailable } from '@ori/postgres/store-unavailable';
import { migrate } from '@ori/store/migrate';
import { type Command, examples } from '../command.ts';
import { wholeNumber } from '../options.ts';

const AGAIN_MS = 500;

export function addMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .description('migrate the database to this version, in one transaction')
    .option(
      '--wait <seconds>',
      'how long to wait for a server that is not there yet, or still starting',
      wholeNumber(0, 3600),
      0,
    )
    .addHelpText(
      'after',
      `
The login must own the database, and may create roles that cannot log in: ori_signer, ori_management, ori_operator
and ori_auditor.
A database that has other contents than those of ori is refused.
${examples('ORI_ADMIN_DATABASE_URL=postgres://owner:…@db/ori ori-admin migrate')}`,
    )
    .does(async (admin, { wait }: { readonly wait: number }) => {
      const attempt = () => admin.withDatabase((db) => migrate(db), { statementTimeoutMs: 0 });
      admin.progress.show('migrating …');
      const { applied } = await retried(attempt, performance.now() + wait * 1000).finally(admin.progress.end);
      const note =
        applied.length === 0 ? 'The database is already at this version.' : `Applied ${applied.length}.`;
      admin.report({ applied }, { lines: applied, note });
    });
}

async function retried<T>(attempt: () => Promise<T>, untilMs: number): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isNotThereYet(error) || performance.now() >= untilMs) throw error;
    }
    await pause(AGAIN_MS);
  }
}

/** No connection, no answer, or PostgreSQL's `cannot_connect_now`, which it answers while it starts. */
function isNotThereYet(error: unknown): boolean {
  if (!(error instanceof StoreUnavailable)) return false;
  const { code, cause } = error;
  return (
    ['unreachable', 'timed_out'].includes(code) ||
    (cause instanceof Error && 'code' in cause && cause.code === '57P03')
  );
}
