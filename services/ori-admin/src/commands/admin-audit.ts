import { compareAudit, endOfAudit, exportAudit, listAudit, whileExporting } from '@ori/administration/audit';
import type { Database, Handle } from '@ori/store/database';
import { openExportFile, readExport } from '../audit-export.ts';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { PartialFailure } from '../failure.ts';
import { addList, type ListOptions, listing } from '../options.ts';
import { addReapplyCommand } from './audit-reapply.ts';

interface AuditListOptions extends ListOptions<'by' | 'table' | 'row' | 'organization'> {
  breakGlass?: true;
}

/** `ori-admin audit list|export|compare|reapply`: changes by operators and the management service. */
export function addAdminAuditCommands(audit: Command): void {
  addList(audit, 'list changes by operators and the management service, newest first')
    .option('--by <actor>', 'only changes by this actor or login')
    .option('--table <name>', 'only changes to this table')
    .option('--row <key>', 'only changes to this row')
    .option('--organization <id>', 'only changes in this organization')
    .option('--break-glass', "only changes by the database's owner")
    .examples('ori-admin audit list --row user_7Qm2', 'ori-admin audit list --break-glass --json')
    .does(
      listing(
        (db, { by, organization, ...filter }: AuditListOptions) =>
          listAudit(db, { ...filter, actor: by, organizationId: organization }),
        ({ seq, at, actor, login, operation, ...entry }) => ({
          seq,
          at: new Date(at),
          actor,
          login,
          owner: entry.break_glass,
          operation,
          table: entry.table_name,
          row: entry.row_key,
          columns: operation === 'update' ? Object.keys(entry.after ?? {}).join(' ') : '',
        }),
      ),
    );

  audit
    .command('export')
    .description('print every change as a line of JSON, oldest first, for a copy outside the database')
    .option('--to <file>', 'append to this file, from where it ends; also after an interruption')
    .examples('ori-admin audit export --to /backup/ori-admin-audit.jsonl')
    .does(async (admin, { to }: { to?: string }) => {
      await admin.withDatabase(async (db) => {
        if (to !== undefined) return await appendTo(to, db, admin);
        for await (const entry of exportAfter(0, db, admin)) admin.stdout.write(`${JSON.stringify(entry)}\n`);
      });
    });

  audit
    .command('compare')
    .description(
      'compare exported changes with the database: which ones a restore lost, and which were altered',
    )
    .argument('<file>', 'the output of audit export')
    .examples('ori-admin audit compare /backup/ori-admin-audit.jsonl')
    .does(async (admin, file: string) => {
      const { compared, missing, changed } = await admin.withDatabase((db) =>
        compareAudit(db, readExport(file)),
      );
      admin.report(
        { missing: missing.map(({ seq }) => seq), changed: changed.map(({ seq }) => seq) },
        { note: `${compared} compared: ${missing.length} missing, ${changed.length} altered.` },
      );
      if (missing.length + changed.length > 0) {
        throw new PartialFailure(
          `Of these changes, ${missing.length} are missing in the database and ${changed.length} differ.`,
          changed.length > 0
            ? `Altered: ${changed
                .slice(0, 20)
                .map(({ seq }) => seq)
                .join(', ')}. Only the owner of the database can alter them: find out who did.`
            : 'After a restore, run ori-admin audit reapply with this file.',
        );
      }
    });

  addReapplyCommand(audit);
}

async function appendTo(path: string, db: Database, admin: Context): Promise<void> {
  const exported = await whileExporting(db, async (tx) => {
    await using file = await openExportFile(path);
    const { last } = file;
    const { missing, changed } = await compareAudit(tx, last === undefined ? [] : [last]);
    if (missing.length + changed.length > 0) {
      throw new PartialFailure(
        `The last change in ${path}, number ${last?.seq}, is missing in the database or differs.`,
        'Run ori-admin audit compare with this file. After a restore, continue in a new file, and keep this one.',
      );
    }
    return await file.append(exportAfter(last?.seq ?? 0, tx, admin));
  });
  admin.report({ exported }, { note: `${exported} appended to ${path}.` });
}

async function* exportAfter(after: number, db: Handle, admin: Context) {
  const { end, complete } = await endOfAudit(db, after);
  yield* exportAudit(db, { after, end });
  if (!complete)
    admin.note('Ends before changes that are still in progress; the next export writes the rest.');
}
