import { parseDaemonAddress } from '../core/address.ts';
import { CliError, isCliError } from '../core/errors.ts';
import { ownValue } from '../core/trust.ts';
import { internsOf } from './intern-id.ts';
import type { Profile } from './profile.ts';
import { keepShown, readTrust } from './trust.ts';

/**
 * The origin of the intern's daemon: the one of this profile, otherwise https at the hostname that the API lists for
 * it, which the profile then keeps. Throws CliError `intern_not_found` if the intern is not in the list,
 * `daemon_unknown` if there is no list or it has no hostname, and the errors of `readTrust`.
 */
export async function findDaemon(profile: Profile, baseUrl: string, internId: string): Promise<URL> {
  const kept = ownValue((await readTrust(profile, baseUrl)).daemons, internId);
  if (kept !== undefined) return parseDaemonAddress(kept);
  const interns = await internsOf(profile).catch((error) => {
    throw isCliError(error, 'interns_not_listed') ? new CliError('daemon_unknown', {}) : error;
  });
  const intern = interns.find(({ id }) => id === internId);
  if (intern === undefined) throw new CliError('intern_not_found', { internId });
  if (intern.hostname === null) throw new CliError('daemon_unknown', {});
  const { origin } = parseDaemonAddress(`https://${requireHostname(intern.hostname)}`);
  await keepShown(profile, baseUrl, { daemons: { [internId]: origin } });
  return new URL(origin);
}

// Only a host name is accepted, because the proof is sent to it.
function requireHostname(hostname: string): string {
  if (/^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*$/i.test(hostname))
    return hostname;
  const why = 'invalid hostname';
  throw new CliError('answer_not_understood', { what: 'the API', address: hostname, why });
}
