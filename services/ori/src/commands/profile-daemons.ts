import { parseDaemonAddress } from '../core/address.ts';
import { CliError } from '../core/errors.ts';
import { findTarget } from '../delivery/signed-call.ts';
import { takeInternId } from '../session/intern-id.ts';
import { type Profile, requireSession } from '../session/profile.ts';
import { changeTrust } from '../session/trust.ts';

/**
 * Sets the daemon of an intern for the profile, or the keys with which it proves its answers; forgets these and the id of the name with `unset`; prints the one in use without either. Throws
 * CliError `address_not_usable`, and the errors of `findTarget`.
 */
export async function profileDaemon(
  profile: Profile,
  intern: string,
  address: string | undefined,
  { unset = false, answerKey: x = [] }: { unset?: boolean; answerKey?: readonly string[] },
): Promise<void> {
  if (unset && (address !== undefined || x.length > 0))
    throw new CliError('usage', { detail: 'Expected nothing else with --unset.' });
  if (!unset && address === undefined && x.length === 0) return showDaemon(profile, intern);
  const origin = address === undefined ? undefined : parseDaemonAddress(address).origin;
  const { base_url } = await requireSession(profile);
  const internId = await takeInternId(profile, intern);
  await changeTrust(profile, base_url, ({ interns, daemons, answers = {} }) => {
    const { [internId]: _daemon, ...others } = daemons;
    const { [internId]: _keys, ...proving } = answers;
    const stated = x.length === 0 ? answers : { ...proving, [internId]: { x, at: null } };
    if (!unset) return { daemons: origin ? { ...others, [internId]: origin } : daemons, answers: stated };
    // The API is asked again for all of it.
    const { [intern]: _id, ...names } = interns;
    return { interns: names, daemons: others, answers: proving };
  });
  if (x.length > 0)
    profile.terminal.note(`The daemon of ${intern} proves its answers with ${x.join(' or ')}.`);
  if (unset || origin !== undefined)
    profile.terminal.note(`The daemon of ${intern} is ${origin ?? 'the one that the API lists'}.`);
}

async function showDaemon(profile: Profile, intern: string): Promise<void> {
  const { internId, origin } = await findTarget(profile, intern, {});
  profile.terminal.result({ intern: internId, daemon: origin.origin }, origin.origin);
}
