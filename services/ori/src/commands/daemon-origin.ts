import { parseDaemonAddress } from '../core/address.ts';
import { CliError, isCliError } from '../core/errors.ts';
import type { Context } from './context.ts';
import { internsOf } from './intern-id.ts';

/**
 * The default origin of the intern's daemon: https at the hostname that the API lists for it. Throws CliError
 * `intern_not_found` if the intern is not in the list, `daemon_unknown` if there is no list or it has no hostname.
 */
export async function findDaemon(context: Context, internId: string): Promise<URL> {
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
