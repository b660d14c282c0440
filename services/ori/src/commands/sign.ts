import { CliError } from '../core/errors.ts';
import { requirePath } from '../core/proof-request.ts';
import { type DigestOptions, takeDigest } from '../delivery/body-options.ts';
import { signFor } from '../delivery/sign.ts';
import { takeTrace } from '../session/context.ts';
import { takeInternId } from '../session/intern-id.ts';
import { type Profile, requireSession } from '../session/profile.ts';

export interface SignOptions extends DigestOptions {
  readonly path?: string;
}

/** Prints the headers of a proof, one `name: value` per line, for `curl -H @FILE`. */
export async function sign(profile: Profile, intern: string, options: SignOptions): Promise<void> {
  if (options.path === undefined) {
    const next = 'For example: --path /api/invoke';
    throw new CliError('usage', { detail: 'Missing --path: a proof is for one path.', next });
  }
  const path = requirePath(options.path);
  await requireSession(profile);
  const internId = await takeInternId(profile, intern);
  const request = { internId, bodySha256: await takeDigest(profile, options), path };
  const proof = await signFor(profile, request, takeTrace(profile));
  profile.terminal.result(proof, ...Object.entries(proof).map(([name, value]) => `${name}: ${value}`));
}
