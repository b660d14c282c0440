import type { Command } from '../command.ts';
import type { KeysOptions } from '../log/print-keys.ts';
import type { VerifyOptions } from '../log/verify-audit.ts';
import { addAdminAuditCommands } from './admin-audit.ts';

export function addAuditCommands(program: Command): void {
  const audit = program
    .command('audit')
    .description("who changed what, the signers' audit files, and the log that commits to them");
  addAdminAuditCommands(audit);

  audit
    .command('verify')
    .description('check audit files against the signing log: no line changed, removed, added or moved')
    .argument('<file...>', 'all audit files of all signers, also rotated ones ending in .gz')
    .requiredOption('--policy <file>', 'a tlog-policy file with the log and its address')
    .option('--remember <file>', 'store the last checkpoint here, and require the next one to extend it')
    .option(
      '--partial',
      'some audit files are not given: count leaves without a line instead of reporting them',
    )
    .option('--require-ml-dsa', 'refuse checkpoints that are not signed with ML-DSA-44 too')
    .examples('ori-admin audit verify audit-1.jsonl-20261121 audit-1.jsonl --policy log.policy')
    .does(async (admin, files: string[], options: VerifyOptions) =>
      (await import('../log/verify-audit.ts')).verifyAudit(admin, files, options),
    );

  audit
    .command('keys')
    .description(
      'print the verifier keys of a signing log; with --intern, the key of its version 1 proofs, a secret',
    )
    .requiredOption('--origin <name>', 'as LOG_ORIGIN')
    .requiredOption('--key-file <file>', 'as LOG_KEY_FILE')
    .option('--intern <id>', 'the intern whose daemon accepts version 1')
    .does(async (admin, options: KeysOptions) =>
      (await import('../log/print-keys.ts')).printKeys(admin, options),
    );
}
