import { dueKeys } from '@ori/administration/bulk-signing-keys';
import { listSigningKeys } from '@ori/administration/lists';
import {
  type AddedSigningKey,
  addSigningKey,
  retireSigningKey,
  revokeSigningKey,
  rotateSigningKey,
} from '@ori/administration/signing-keys';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../failure.ts';
import { addList, confirmed, type ListOptions, toDate, unixSeconds, wholeNumber } from '../options.ts';
import { staterOf } from './root.ts';
import {
  type BulkOptions,
  bulk,
  isBulk,
  revokeInBulk,
  rotateDue,
  rotateInBulk,
} from './signing-keys-in-bulk.ts';

interface TimingOptions {
  expiresAt?: number;
  lifetime: number;
  expiry: boolean;
}

const DAY_SECONDS = 24 * 3600;
const LIFETIME_DAYS = 90;
/** Long before the alert OriSigningKeyEndsSoon opens a ticket. */
const DUE_DAYS = 14;

export function addSigningKeyCommands(program: Command): void {
  const signingKey = program
    .command('signing-key')
    .description('the Ed25519 keys that sign proofs; their seeds are stored sealed');

  timed(signingKey.command('add'))
    .description('add a signing key to an intern; prints its id')
    .examples(
      'ori-admin signing-key add int_7Qm2',
      'ori-admin signing-key add int_7Qm2 --lifetime 30',
      'ori-admin signing-key add int_7Qm2 --no-expiry',
    )
    .argument('<intern>', 'id of the intern')
    .does(async (admin, internId: string, options: TimingOptions) => {
      const keys = await keysOf(admin);
      const made = await admin.withDatabase((db) =>
        addSigningKey(db, { internId, ...keys, ...timingOf(options) }),
      );
      reportKey(admin, made);
    });

  bulk(timed(signingKey.command('rotate')), 'rotate every intern whose keys')
    .description('add the next key of an intern; the former keys end soon after it becomes valid')
    .argument('[intern]', 'id of the intern, unless an option chooses interns')
    .option(
      '--due [days]',
      `every intern whose last key expires within this many days (default: ${DUE_DAYS}), or expired in the last 30`,
      days,
    )
    .examples(
      'ori-admin signing-key rotate int_7Qm2',
      'ori-admin signing-key rotate --due   # daily, by a timer',
      'ori-admin signing-key rotate --all',
    )
    .does(async (admin, internId: string | undefined, options: RotateOptions) => {
      const { due } = options;
      if ([internId !== undefined, due !== undefined, isBulk(options)].filter(Boolean).length !== 1) {
        throw new UsageError(
          'Give the id of an intern, --due, or one of --all, --before and --organization.',
        );
      }
      const keys = await keysOf(admin);
      const next = { ...keys, ...timingOf(options) };
      if (isBulk(options)) return await rotateInBulk(admin, options, next);
      if (internId === undefined) return await rotateDue(admin, dueWithin(due), next);
      reportKey(admin, await admin.withDatabase((db) => rotateSigningKey(db, { internId, ...next })));
    });

  addList(signingKey, 'list signing keys without their seeds, including retired ones')
    .option('--intern <id>', 'only those of this intern')
    .option(
      '--expiring [days]',
      `only last keys of interns that expire within this many days (default: ${DUE_DAYS}), or expired in the last 30`,
      days,
    )
    .does(async (admin, { limit, after, intern, expiring }: KeyListOptions) => {
      if (expiring !== undefined) {
        const due = await admin.withDatabase((db) => dueKeys(db, dueWithin(expiring)));
        const rows = due
          .filter(({ internId }) => intern === undefined || internId === intern)
          .map(({ id, internId, expiresAt }) => ({ id, intern_id: internId, expires_at: expiresAt }));
        const listed = { rows: rows.slice(0, limit), hasMore: rows.length > limit };
        admin.reportList(listed, ({ id, intern_id, expires_at }) => ({
          id,
          intern: intern_id,
          expires: toDate(expires_at),
        }));
        return;
      }
      const listed = await admin.withDatabase((db) =>
        listSigningKeys(db, { limit, after, intern_id: intern }),
      );
      admin.reportList(listed, (row) => ({
        id: row.id,
        intern: row.intern_id,
        kid: row.kid,
        'not before': toDate(row.not_before),
        expires: toDate(row.expires_at),
        withdrawn: row.retired_at,
      }));
    });

  confirmed(
    signingKey.command('retire'),
    (id) =>
      `The key ${id} will sign nothing more; without another key its intern cannot be called until \`rotate --due\` gives it one. To end an intern, revoke its key.`,
  )
    .description('stop signing with a key now; proofs that it signed remain valid')
    .argument('<key>', 'id of the signing key')
    .does(async (admin, keyId: string) => {
      admin.config('databaseUrl');
      const stater = await staterOf(admin);
      await admin.withDatabase((db) => retireSigningKey(db, { keyId, stater }));
      admin.report({ id: keyId, retired: true }, { note: 'Retired.' });
    });

  confirmed(
    bulk(signingKey.command('revoke'), 'revoke every key that'),
    (id) =>
      `Daemons will refuse every proof of ${id ? `the key ${id}` : 'these keys'}, including those already issued.`,
  )
    .description('stop signing with an untrusted key and remove it from the published set, now')
    .argument('[key]', 'id of the signing key, unless an option chooses keys')
    .examples('ori-admin signing-key revoke --all --yes')
    .does(async (admin, keyId: string | undefined, options: BulkOptions) => {
      if ((keyId === undefined) !== isBulk(options)) {
        throw new UsageError('Give the id of a key, or one of --all, --before and --organization.');
      }
      if (keyId === undefined) return await revokeInBulk(admin, options);
      await admin.withDatabase((db) => revokeSigningKey(db, { keyId }));
      admin.report({ id: keyId, revoked: true }, { note: 'Revoked.' });
    });
}

interface RotateOptions extends TimingOptions, BulkOptions {
  /** True if given without a number of days. */
  due?: number | true;
}

interface KeyListOptions extends ListOptions<'intern'> {
  expiring?: number | true;
}

const days = wholeNumber(1, 3650);
const dueWithin = (given: number | true | undefined) => ({
  seconds: (typeof given === 'number' ? given : DUE_DAYS) * DAY_SECONDS,
});

function timed(command: Command): Command {
  return command
    .option('--expires-at <seconds>', 'expires at this time, in Unix seconds', unixSeconds)
    .option('--lifetime <days>', 'valid for this many days', days, LIFETIME_DAYS)
    .option('--no-expiry', 'valid until it is rotated or retired');
}

/** A key expires after its lifetime unless `--expires-at` or `--no-expiry` is given. */
function timingOf({ expiresAt, lifetime, expiry }: TimingOptions) {
  const ends = expiresAt !== undefined || !expiry;
  return { expiresAt, lifetimeSeconds: ends ? undefined : lifetime * DAY_SECONDS };
}

async function keysOf(admin: Context) {
  admin.config('databaseUrl', 'signerKekFile');
  return { sealer: await admin.readRing('signer'), stater: await staterOf(admin) };
}

function reportKey(admin: Context, { id, kid, notBefore, expiresAt }: AddedSigningKey): void {
  const from = toDate(notBefore)?.toISOString();
  admin.report(
    { id, kid, not_before: notBefore, expires_at: expiresAt },
    { lines: [id], note: `It is published as ${kid} and is valid from ${from}.` },
  );
}
