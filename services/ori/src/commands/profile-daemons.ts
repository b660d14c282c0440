import { parseDaemonAddress } from '../core/address.ts';
import { CliError } from '../core/errors.ts';
import { findTarget } from '../delivery/signed-call.ts';
import { takeInternId } from '../session/intern-id.ts';
import { type Profile, requireSession } from '../session/profile.ts';
import { changeTrust } from '../session/trust.ts';

/**
 * Sets the daemon of an intern for the profile, or forgets it and the id of the name with `unset`; prints the one in use without either. Throws
 * CliError `address_not_usable`, and the errors of `findTarget`.
 */
export async function profileDaemon(
  profile: Profile,
  intern: string,
  address: string | undefined,
  { unset = false }: { unset?: boolean },
): Promise<void> {
  if (unset && address !== undefined)
    throw new CliError('usage', { detail: 'Expected no URL with --unset.' });
  if (!unset && address === undefined) return showDaemon(profile, intern);
  const origin = address === undefined ? undefined : parseDaemonAddress(address).origin;
  const { base_url } = await requireSession(profile);
  const internId = await takeInternId(profile, intern);
  await changeTrust(profile, base_url, ({ interns, daemons }) => {
    const { [internId]: _daemon, ...others } = daemons;
    if (origin !== undefined) return { daemons: { ...others, [internId]: origin } };
    // The API is asked again for both.
    const { [intern]: _id, ...names } = interns;
    return { interns: names, daemons: others };
  });
  profile.terminal.note(`The daemon of ${intern} is ${origin ?? 'the one that the API lists'}.`);
}

async function showDaemon(profile: Profile, intern: string): Promise<void> {
  const { internId, origin } = await findTarget(profile, intern, {});
  profile.terminal.result({ intern: internId, daemon: origin.origin }, origin.origin);
}
