import { parseDaemonAddress } from '../core/address.ts';
import { CliError } from '../core/errors.ts';
import { requireSession } from './access.ts';
import type { Context } from './context.ts';
import { takeInternId } from './intern-id.ts';
import { findTarget } from './signed-call.ts';
import { changeTrust } from './trust.ts';

/**
 * Sets the daemon of an intern for the profile, or forgets it and the id of the name with `unset`; prints the one in use without either. Throws
 * CliError `address_not_usable`, and the errors of `findTarget`.
 */
export async function profileDaemon(
  context: Context,
  intern: string,
  address: string | undefined,
  { unset = false }: { unset?: boolean },
): Promise<void> {
  if (unset && address !== undefined)
    throw new CliError('usage', { detail: 'Expected no URL with --unset.' });
  if (!unset && address === undefined) return showDaemon(context, intern);
  const origin = address === undefined ? undefined : parseDaemonAddress(address).origin;
  const { base_url } = await requireSession(context);
  const internId = await takeInternId(context, intern);
  await changeTrust(context, base_url, ({ interns, daemons }) => {
    const { [internId]: _daemon, ...others } = daemons;
    if (origin !== undefined) return { daemons: { ...others, [internId]: origin } };
    // The API is asked again for both.
    const { [intern]: _id, ...names } = interns;
    return { interns: names, daemons: others };
  });
  context.terminal.note(`The daemon of ${intern} is ${origin ?? 'the one that the API lists'}.`);
}

async function showDaemon(context: Context, intern: string): Promise<void> {
  const { internId, origin } = await findTarget(context, intern, {});
  context.terminal.result({ intern: internId, daemon: origin.origin }, origin.origin);
}
