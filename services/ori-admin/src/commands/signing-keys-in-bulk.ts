import {
  afterEveryKey,
  dueKeys,
  internsWithKeysBefore,
  type MadeBefore,
  revokeSigningKeys,
  rotateSigningKeys,
} from '@ori/administration/bulk-signing-keys';
import type { NewSigningKey } from '@ori/administration/signing-keys';
import type { Database } from '@ori/store/database';
import { InvalidArgumentError, Option } from 'commander';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
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
  await admin.withDatabase(async (db) => {
    const chosen = await chosenBy(admin, db, options);
    const revoked = await revokeSigningKeys(db, chosen);
    admin.report(
      { revoked, before: chosen.before.toISOString() },
      { note: `${revoked} keys revoked. Their interns sign again after signing-key rotate.` },
    );
  });
}

export async function rotateInBulk(
  admin: Context,
  options: BulkOptions,
  key: Omit<NewSigningKey, 'internId'>,
): Promise<void> {
  await admin.withDatabase(async (db) => {
    const chosen = await chosenBy(admin, db, options);
    const before = chosen.before.toISOString();
    await rotateEach(admin, db, await internsWithKeysBefore(db, chosen), key, { before });
  });
}

/** Those whose last key ends within `seconds`. */
export async function rotateDue(
  admin: Context,
  due: { readonly seconds: number },
  key: Omit<NewSigningKey, 'internId'>,
): Promise<void> {
  await admin.withDatabase(async (db) => {
    const interns = (await dueKeys(db, due)).map(({ internId }) => internId);
    await rotateEach(admin, db, interns, key, {});
  });
}

/** Continues after an intern whose key cannot be rotated, and fails at the end. */
async function rotateEach(
  admin: Context,
  db: Database,
  internIds: readonly string[],
  key: Omit<NewSigningKey, 'internId'>,
  more: object,
): Promise<void> {
  const { rotated, failed } = await rotateSigningKeys(db, internIds, key, (count) =>
    admin.progress.show(`${count} of ${internIds.length} rotated`),
  ).finally(admin.progress.end);
  const errors = failed.map(({ internId, error }) => ({ intern_id: internId, error: error.message }));
  admin.report(
    { rotated, ...more, failed: errors },
    {
      lines: errors.map(({ intern_id: id, error }) => `${id} ${error}`),
      note: `${rotated} interns rotated.`,
    },
  );
  if (failed.length > 0) {
    throw new PartialFailure(`${failed.length} interns were not rotated.`, 'Each is listed with its error.');
  }
}

async function chosenBy(
  admin: Context,
  db: Database,
  { before, organization: organizationId }: BulkOptions,
): Promise<MadeBefore> {
  const until = before ?? (await afterEveryKey(db));
  admin.note(`To continue after an interruption, repeat with --before ${until.toISOString()}.`);
  return { before: until, organizationId };
}

function instant(text: string): Date {
  const date = new Date(text);
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text) && !Number.isNaN(date.getTime())) return date;
  throw new InvalidArgumentError('Expected a time in UTC, as in 2026-01-31T12:00:00Z.');
}
