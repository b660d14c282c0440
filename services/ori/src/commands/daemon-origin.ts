import { readSmallFile } from '../adapters/private-file.ts';
import { parseDaemonAddress } from '../core/address.ts';
import { CliError, isCliError } from '../core/errors.ts';
import { parseJson } from '../core/parse-json.ts';
import { type Context, daemonsFile } from './context.ts';
import { internsOf } from './intern-id.ts';

/** The origins of daemons, by base address of the API and by id of the intern. */
type Daemons = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** The addresses that `ori profiles daemon` was given in this profile. Throws CliError `usage` for a damaged file. */
export function keptDaemons(context: Context): { file: string; daemons: Daemons } {
  const file = daemonsFile(context);
  const text = readSmallFile(file);
  const daemons = text === undefined ? {} : parseJson(text);
  const isRecord = (value: unknown) => typeof value === 'object' && value !== null;
  if (isRecord(daemons) && Object.values(daemons as object).every(isRecord))
    return { file, daemons: daemons as Daemons };
  throw new CliError('usage', {
    detail: `${file} does not contain addresses of daemons.`,
    next: 'Remove it, then set them again: ori profiles daemon --help',
  });
}

/**
 * The origin of the intern's daemon: the one of this profile, otherwise https at the hostname that the API lists for
 * it. Throws CliError `intern_not_found` if the intern is not in the list, `daemon_unknown` if there is no list or it has
 * no hostname, and the errors of `keptDaemons`.
 */
export async function findDaemon(context: Context, baseUrl: string, internId: string): Promise<URL> {
  const kept = keptDaemons(context).daemons[baseUrl]?.[internId];
  if (kept !== undefined) return parseDaemonAddress(kept);
  const interns = await internsOf(context).catch((error) => {
    throw isCliError(error, 'interns_not_listed') ? new CliError('daemon_unknown', {}) : error;
  });
  const intern = interns.find(({ id }) => id === internId);
  if (intern === undefined) throw new CliError('intern_not_found', { internId });
  if (intern.hostname === null) throw new CliError('daemon_unknown', {});
  return parseDaemonAddress(`https://${requireHostname(intern.hostname)}`);
}

// Only a host name is accepted, because the proof is sent to it.
function requireHostname(hostname: string): string {
  if (/^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i.test(hostname))
    return hostname;
  const why = 'invalid hostname';
  throw new CliError('answer_not_understood', { what: 'the API', address: hostname, why });
}
