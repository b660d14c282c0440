import {
  afterEveryKey,
  type MadeBefore,
  type RotateInput,
  revokeSigningKeys,
  rotateSigningKeys,
} from '@ori/store/admin';
import type { Database } from '@ori/store/database';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-codes.ts';
import { PartialFailure } from '../failure.ts';

/** Which keys a command is for, if not one by its id. */
export interface BulkOptions {
  all?: true;
  before?: Date;
  organization?: string;
}

/** @param what before "were made before this time" */
export function bulk(command: Command, what: string): Command {
  return command
    .addOption(new Option('--all', `${what} was made until now`).conflicts(['before', 'organization']))
    .option('--before <time>', `${what} was made before this time, as in 2026-01-31T12:00:00Z`, instant)
    .option(
      '--organization <id>',
      `${what} belongs to this organization; with --before, only the older ones`,
    );
}

export const isBulk = ({ all, before, organization }: BulkOptions): boolean =>
  (all ?? before ?? organization) !== undefined;

export async function revokeInBulk(admin: Context, options: BulkOptions): Promise<void> {
  admin.config('databaseUrl');
  const { outcome, before } = await inBatches(admin, options, 'revoked', revokeSigningKeys);
  const report = { revoked: outcome, before: before.toISOString() };
  admin.report(report, {
    note: `${outcome} keys revoked. Their interns sign again after signing-key rotate.`,
  });
}

export async function rotateInBulk(
  admin: Context,
  options: BulkOptions,
  key: Omit<RotateInput, 'internId'>,
): Promise<void> {
  const { outcome, before } = await inBatches(admin, options, 'rotated', (db, chosen) =>
    rotateSigningKeys(db, chosen, key),
  );
  const { rotated, failed } = outcome;
  const errors = failed.map(({ internId, error }) => ({ intern_id: internId, error: error.message }));
  admin.report(
    { rotated, before: before.toISOString(), failed: errors },
    {
      lines: errors.map(({ intern_id: id, error }) => `${id} ${error}`),
      note: `${rotated} interns rotated.`,
    },
  );
  if (failed.length > 0) {
    throw new PartialFailure(
      EXIT.conflict,
      `${failed.length} interns were not rotated.`,
      'Each is listed with its error.',
    );
  }
}

async function inBatches<Outcome>(
  admin: Context,
  { before: given, organization: organizationId }: BulkOptions,
  done: string,
  work: (db: Database, chosen: MadeBefore) => Promise<Outcome>,
): Promise<{ readonly outcome: Outcome; readonly before: Date }> {
  return await admin
    .withDatabase(async (db) => {
      const before = given ?? (await afterEveryKey(db));
      admin.note(`To continue after an interruption, repeat with --before ${before.toISOString()}.`);
      const onProgress = (count: number) => admin.progress.show(`${count} ${done}`);
      return { outcome: await work(db, { before, organizationId, onProgress }), before };
    })
    .finally(admin.progress.end);
}

function instant(text: string): Date {
  const date = new Date(text);
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) && !Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('Expected a time in UTC, as in 2026-01-31T12:00:00Z.');
}
