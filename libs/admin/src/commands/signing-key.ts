import {
  type AddedSigningKey,
  addSigningKey,
  listSigningKeys,
  retireSigningKey,
  rotateSigningKey,
} from '@ori/store/admin';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { examples } from '../help.ts';
import {
  addList,
  addYes,
  given,
  type ListOptions,
  requireYes,
  unixSeconds,
  wholeNumber,
} from '../options.ts';

interface TimingOptions {
  notBefore?: number;
  expiresAt?: number;
}

export function addSigningKeyCommands(program: Command, context: () => Context): void {
  const signingKey = program
    .command('signing-key')
    .description('the Ed25519 keys that sign proofs; their seeds are stored sealed');

  timed(signingKey.command('add'))
    .description('give an intern a signing key; prints its id')
    .addHelpText(
      'after',
      examples(
        'ori-admin signing-key add int_7Qm2',
        'ori-admin signing-key add int_7Qm2 --not-before 1789000000',
      ),
    )
    .action(async (internId: string, options: TimingOptions) => {
      const admin = context();
      const home = homeOf(admin);
      const made = await admin.withDatabase((db) =>
        addSigningKey(db, { internId, ...home, ...given(options) }),
      );
      reportKey(admin, made);
    });

  timed(signingKey.command('rotate'))
    .description('give an intern the following key; the former ones end when it has begun')
    .option('--overlap <seconds>', 'how long the former keys stay good then (60)', wholeNumber(0, 86_400))
    .addHelpText('after', examples('ori-admin signing-key rotate int_7Qm2'))
    .action(async (internId: string, { overlap, ...options }: TimingOptions & { overlap?: number }) => {
      const admin = context();
      const home = homeOf(admin);
      const made = await admin.withDatabase((db) =>
        rotateSigningKey(db, {
          internId,
          ...home,
          ...given({ notBefore: options.notBefore, expiresAt: options.expiresAt, overlapSeconds: overlap }),
        }),
      );
      reportKey(admin, made);
    });

  addList(signingKey, 'list signing keys without their seeds, retired ones too')
    .option('--intern <id>', 'only of this intern')
    .action(async ({ limit, intern }: ListOptions & { intern?: string }) => {
      const admin = context();
      const listed = await admin.withDatabase((db) =>
        listSigningKeys(db, { limit, ...given({ internId: intern }) }),
      );
      admin.reportList(listed, ['id', 'intern', 'kid', 'not before', 'expires', 'retired'], (row) => [
        row.id,
        row.intern_id,
        row.kid,
        toDate(row.not_before),
        toDate(row.expires_at),
        row.retired_at,
      ]);
    });

  addYes(
    signingKey
      .command('retire')
      .description('take a key that must not be trusted out of use and out of the published set, at once')
      .argument('<key>', 'id of the signing key'),
  ).action(async (keyId: string, options: { yes?: true }) => {
    requireYes(options, `Daemons will refuse every proof of the key ${keyId}, also those under way.`);
    const admin = context();
    await admin.withDatabase((db) => retireSigningKey(db, { keyId }));
    admin.report({ id: keyId, retired: true }, { note: 'Retired.' });
  });
}

function timed(command: Command): Command {
  return command
    .argument('<intern>', 'id of the intern')
    .option('--not-before <seconds>', 'good from this time, in Unix seconds', unixSeconds)
    .option('--expires-at <seconds>', 'good until before this time, in Unix seconds', unixSeconds);
}

function homeOf(admin: Context) {
  const { issuer, baseUrl } = admin.config('databaseUrl', 'kekFile', 'issuer', 'baseUrl');
  return { sealer: admin.readRing(), issuer, baseUrl };
}

function reportKey(admin: Context, { id, kid, notBefore, expiresAt }: AddedSigningKey): void {
  const from = toDate(notBefore)?.toISOString();
  admin.report(
    { id, kid, not_before: notBefore, expires_at: expiresAt },
    { lines: [id], note: `It is published as ${kid}, and good from ${from}.` },
  );
}

function toDate(seconds: number | null): Date | null {
  return seconds === null ? null : new Date(seconds * 1000);
}
