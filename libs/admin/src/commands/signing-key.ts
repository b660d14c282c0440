import type { Database } from '@ori/store';
import {
  type AddedSigningKey,
  AdminError,
  addSigningKey,
  type DueKey,
  dueKeys,
  listSigningKeys,
  retireSigningKey,
  revokeSigningKey,
  rotateSigningKey,
} from '@ori/store/admin';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { PartialFailure, UsageError } from '../failure.ts';
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
  lifetime: number;
  expiry: boolean;
}

const DAY_SECONDS = 24 * 3600;
const LIFETIME_DAYS = 90;
/** Long before OriSigningKeyEndsSoon opens a ticket. */
const DUE_DAYS = 14;

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
        'ori-admin signing-key add int_7Qm2 --lifetime 30',
        'ori-admin signing-key add int_7Qm2 --no-expiry',
      ),
    )
    .argument('<intern>', 'id of the intern')
    .action(async (internId: string, options: TimingOptions) => {
      const admin = context();
      const home = await homeOf(admin);
      const made = await admin.withDatabase((db) =>
        addSigningKey(db, { internId, ...home, ...timingOf(options) }),
      );
      reportKey(admin, made);
    });

  timed(signingKey.command('rotate'))
    .description('give an intern the following key; the former ones end when it has begun')
    .argument('[intern]', 'id of the intern; or --due')
    .option('--due [days]', `every intern whose last key ends within so many days (${DUE_DAYS})`, days)
    .option('--overlap <seconds>', 'how long the former keys stay good then (60)', wholeNumber(0, 86_400))
    .addHelpText(
      'after',
      examples(
        'ori-admin signing-key rotate int_7Qm2',
        'ori-admin signing-key rotate --due   # daily, by a timer',
      ),
    )
    .action(async (internId: string | undefined, options: RotateOptions) => {
      const { overlap, due } = options;
      if ((internId === undefined) === (due === undefined)) {
        throw new UsageError('Name an intern, or give --due.');
      }
      const admin = context();
      const home = await homeOf(admin);
      const rotate = (db: Database, id: string) =>
        rotateSigningKey(db, {
          internId: id,
          ...home,
          ...timingOf(options),
          ...given({ overlapSeconds: overlap }),
        });
      if (internId !== undefined) {
        reportKey(admin, await admin.withDatabase((db) => rotate(db, internId)));
        return;
      }
      await admin.withDatabase(async (db) => {
        const found = await dueKeys(db, { at: nowSeconds(), seconds: daysOf(due) * DAY_SECONDS });
        await rotateAll(admin, found, (id) => rotate(db, id));
      });
    });

  addList(signingKey, 'list signing keys without their seeds, retired ones too')
    .option('--intern <id>', 'only of this intern')
    .option(
      '--expiring [days]',
      `only last keys that end within so many days (${DUE_DAYS}), or have ended`,
      days,
    )
    .action(async ({ limit, intern, expiring }: KeyListOptions) => {
      const admin = context();
      if (expiring !== undefined) {
        const seconds = daysOf(expiring) * DAY_SECONDS;
        const due = await admin.withDatabase((db) => dueKeys(db, { at: nowSeconds(), seconds }));
        const rows = due
          .filter(({ internId }) => intern === undefined || internId === intern)
          .map(({ id, internId, expiresAt }) => ({ id, intern_id: internId, expires_at: expiresAt }));
        const listed = { rows: rows.slice(0, limit), hasMore: rows.length > limit };
        admin.reportList(listed, ['id', 'intern', 'expires'], (key) => [
          key.id,
          key.intern_id,
          toDate(key.expires_at),
        ]);
        return;
      }
      const listed = await admin.withDatabase((db) =>
        listSigningKeys(db, { limit, ...given({ internId: intern }) }),
      );
      admin.reportList(listed, ['id', 'intern', 'kid', 'not before', 'expires', 'withdrawn'], (row) => [
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
      .description('end a key now; what it signed is still verified')
      .argument('<key>', 'id of the signing key'),
  ).action(async (keyId: string, options: { yes?: true }) => {
    requireYes(
      options,
      `The key ${keyId} will sign nothing more; without another one its intern cannot be called.`,
    );
    const admin = context();
    await admin.withDatabase((db) => retireSigningKey(db, { keyId }));
    admin.report({ id: keyId, retired: true }, { note: 'Retired.' });
  });

  addYes(
    signingKey
      .command('revoke')
      .description('take a key that must not be trusted out of use and out of the published set, at once')
      .argument('<key>', 'id of the signing key'),
  ).action(async (keyId: string, options: { yes?: true }) => {
    requireYes(options, `Daemons will refuse every proof of the key ${keyId}, also those under way.`);
    const admin = context();
    await admin.withDatabase((db) => revokeSigningKey(db, { keyId }));
    admin.report({ id: keyId, revoked: true }, { note: 'Revoked.' });
  });
}

interface RotateOptions extends TimingOptions {
  overlap?: number;
  /** True without a number of days. */
  due?: number | true;
}

interface KeyListOptions extends ListOptions {
  intern?: string;
  expiring?: number | true;
}

const days = wholeNumber(1, 3650);
const daysOf = (given: number | true | undefined): number => (typeof given === 'number' ? given : DUE_DAYS);
const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** Goes on after an intern that cannot be rotated, and ends with a failure then. */
async function rotateAll(
  admin: Context,
  due: readonly DueKey[],
  rotate: (internId: string) => Promise<AddedSigningKey>,
): Promise<void> {
  let failed = 0;
  for (const { internId } of due) {
    const outcome = await rotate(internId).catch((error: unknown) => {
      if (error instanceof AdminError) return error;
      throw error;
    });
    const isFailure = outcome instanceof AdminError;
    failed += isFailure ? 1 : 0;
    admin.report(
      isFailure
        ? { intern_id: internId, error: outcome.message }
        : { intern_id: internId, id: outcome.id, kid: outcome.kid, expires_at: outcome.expiresAt },
      { lines: [`${internId} ${isFailure ? outcome.message : outcome.id}`] },
    );
  }
  if (failed > 0) {
    throw new PartialFailure(
      EXIT.conflict,
      `${failed} of ${due.length} interns were not rotated.`,
      'Look at each one.',
    );
  }
}

function timed(command: Command): Command {
  return command
    .option('--not-before <seconds>', 'good from this time, in Unix seconds', unixSeconds)
    .option('--expires-at <seconds>', 'good until before this time, in Unix seconds', unixSeconds)
    .option('--lifetime <days>', 'good for so many days', days, LIFETIME_DAYS)
    .option('--no-expiry', 'good until it is rotated or retired');
}

/** A key ends after its lifetime unless an end was given, or that it has none. */
function timingOf({ notBefore, expiresAt, lifetime, expiry }: TimingOptions) {
  const ends = expiresAt !== undefined || !expiry;
  return given({ notBefore, expiresAt, lifetimeSeconds: ends ? undefined : lifetime * DAY_SECONDS });
}

async function homeOf(admin: Context) {
  const { issuer, baseUrl } = admin.config('databaseUrl', 'signerKekFile', 'issuer', 'baseUrl');
  return { sealer: await admin.readRing('signer'), issuer, baseUrl };
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
