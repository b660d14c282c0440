import { writePrivateFile } from '../adapters/private-file.ts';
import { parseDaemonAddress } from '../core/address.ts';
import { CliError } from '../core/errors.ts';
import { requireSession } from './access.ts';
import type { Context } from './context.ts';
import { keptDaemons } from './daemon-origin.ts';
import { takeInternId } from './intern-id.ts';
import { findTarget } from './signed-call.ts';

/**
 * Sets the daemon of an intern for the profile, or forgets it with `unset`; prints the one in use without either. Throws
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
  const { file, daemons } = keptDaemons(context);
  const { [internId]: _before, ...others } = daemons[base_url] ?? {};
  const now = origin === undefined ? others : { ...others, [internId]: origin };
  await writePrivateFile(file, `${JSON.stringify({ ...daemons, [base_url]: now }, null, 2)}\n`);
  context.terminal.note(`The daemon of ${intern} is ${origin ?? 'the one that the API lists'}.`);
}

async function showDaemon(context: Context, intern: string): Promise<void> {
  const { internId, origin } = await findTarget(context, intern, {});
  context.terminal.result({ intern: internId, daemon: origin.origin }, origin.origin);
}
