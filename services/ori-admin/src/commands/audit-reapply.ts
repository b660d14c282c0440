import { compareAudit } from '@ori/administration/audit';
import { type LostRevocation, revocationsOf } from '@ori/administration/lost-revocations';
import { AdminError, unlessAdminError } from '@ori/store/writes/admin-error';
import { readExport } from '../audit-export.ts';
import { type Command, examples } from '../command.ts';
import type { Context } from '../context.ts';
import { PartialFailure, UsageError } from '../failure.ts';
import { staterOf } from './root.ts';

interface ReapplyOptions {
  dryRun?: boolean;
  yes?: boolean;
}

type Outcome = 'lost' | 'done' | 'absent' | 'failed';

export function addReapplyCommand(audit: Command): void {
  audit
    .command('reapply')
    .description('after a restore, repeat the removals and revocations that it lost')
    .argument('<file>', 'the output of audit export')
    .option('--dry-run', 'only list them')
    .option('--yes', 'confirm')
    .addHelpText(
      'after',
      `
Each is listed as done, absent (its object does not exist, or is withdrawn already) or failed.
Run it before the services start; it can be run again.
${examples('ori-admin audit reapply /backup/ori-admin-audit.jsonl --dry-run')}`,
    )
    .does(async (admin, file: string, { dryRun = false, yes = false }: ReapplyOptions) => {
      if (dryRun === yes) throw new UsageError('Give --dry-run or --yes. Nothing was done.');
      admin.config('databaseUrl');
      const stater = await staterOf(admin);
      const failed = await admin.withDatabase(async (db) => {
        const { missing } = await compareAudit(db, readExport(file));
        let failures = 0;
        for (const revocation of revocationsOf(missing)) {
          if (dryRun) {
            tell(admin, revocation, 'lost');
            continue;
          }
          const outcome = await unlessAdminError(revocation.apply(db, stater));
          const error = outcome instanceof AdminError ? outcome : undefined;
          const isAbsent = error?.code === 'not_found';
          tell(admin, revocation, error === undefined ? 'done' : isAbsent ? 'absent' : 'failed', error);
          if (error !== undefined && !isAbsent) failures += 1;
        }
        return failures;
      });
      if (failed === 0) return;
      throw new PartialFailure(
        `${failed} revocations could not be repeated.`,
        'Each is listed with its error. Correct the cause and run the command again.',
      );
    });
}

function tell(admin: Context, revocation: LostRevocation, outcome: Outcome, error?: AdminError): void {
  const { seq, action, subject } = revocation;
  const why = outcome === 'failed' ? `: ${error?.message}` : '';
  admin.report(
    { seq, action, subject, outcome, ...(why !== '' && { error: error?.message }) },
    { lines: [[outcome, seq, action, ...subject.map(shown)].join(' ') + why] },
  );
}

/** Where one value ends has to be seen: only ids are shown without quotes. */
const shown = (value: string): string => (/^[\w-]+$/.test(value) ? value : JSON.stringify(value));
