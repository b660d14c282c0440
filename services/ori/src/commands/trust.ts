import { readPrivateFile, writePrivateFile } from '../adapters/private-file.ts';
import { withSessionLock } from '../adapters/session-lock.ts';
import { CliError, isCliError } from '../core/errors.ts';
import { parseTrust, type Trust, trustOf } from '../core/trust.ts';
import { type Context, sessionPlace, trustFile } from './context.ts';

/** Members to replace; an undefined one is removed. */
type TrustChange = { readonly [Member in keyof Trust]?: Trust[Member] | undefined };

/**
 * What the profile trusts at a base address. Throws CliError `trust_damaged` and `session_file_exposed`: without it, a
 * server in between could have anything trusted anew.
 */
export async function readTrust(context: Context, baseUrl: string): Promise<Trust> {
  return trustOf(await readAll(context), baseUrl);
}

/** Changes what the profile trusts there, while no other process does. Throws the same, and `session_file_unusable`. */
export async function changeTrust(
  context: Context,
  baseUrl: string,
  change: (trust: Trust) => TrustChange,
): Promise<void> {
  const { lock } = sessionPlace(context);
  await withSessionLock(lock, context.interrupted, () => storeTrust(context, baseUrl, change));
}

/** The same for a caller that has the session's lock. */
export async function storeTrust(
  context: Context,
  baseUrl: string,
  change: (trust: Trust) => TrustChange,
): Promise<void> {
  const all = await readAll(context);
  const before = trustOf(all, baseUrl);
  const now = { ...all, [baseUrl]: { ...before, ...change(before) } };
  await writePrivateFile(trustFile(context), `${JSON.stringify(now, null, 2)}\n`);
}

/** The names of interns that the profile keeps, of all base addresses. Throws as `readTrust`. */
export async function keptNames(context: Context): Promise<string[]> {
  return Object.values(await readAll(context)).flatMap(({ interns }) => Object.keys(interns));
}

async function readAll(context: Context): Promise<Record<string, Trust>> {
  const file = trustFile(context);
  const text = await readPrivateFile(file, false).catch((error) => {
    throw isCliError(error, 'session_file_damaged') ? new CliError('trust_damaged', { file }) : error;
  });
  const all = text === undefined ? {} : parseTrust(text);
  if (all === undefined) throw new CliError('trust_damaged', { file });
  return all;
}

/**
 * Keeps what the API said when it was first needed, about an intern or whom it signs for, so that a server in between cannot exchange it
 * later, and says so. Where nothing can be stored it is only said.
 */
export async function keepShown(
  context: Context,
  baseUrl: string,
  { interns = {}, daemons = {}, users = {} }: Partial<Trust>,
): Promise<void> {
  for (const [name, value] of Object.entries({ ...interns, ...daemons }))
    context.terminal.note(`From now on, this profile uses ${value} for ${name}.`);
  for (const user of Object.values(users))
    context.terminal.note(`From now on, this profile calls as ${user}.`);
  try {
    await changeTrust(context, baseUrl, (trust) => ({
      interns: { ...trust.interns, ...interns },
      daemons: { ...trust.daemons, ...daemons },
      users: { ...trust.users, ...users },
    }));
  } catch (error) {
    if (!isCliError(error, 'session_file_unusable')) throw error;
  }
}
