import { CliError } from '../core/errors.ts';
import { requirePath } from '../core/proof-request.ts';
import { requireSession } from './access.ts';
import { type DigestOptions, takeDigest } from './body-options.ts';
import { type Context, takeTrace } from './context.ts';
import { takeInternId } from './intern-id.ts';
import { signFor } from './sign-for.ts';

export interface SignOptions extends DigestOptions {
  readonly path?: string;
}

/** Prints the headers of a proof, one `name: value` per line, for `curl -H @FILE`. */
export async function sign(context: Context, intern: string, options: SignOptions): Promise<void> {
  if (options.path === undefined) {
    const next = 'For example: --path /api/invoke';
    throw new CliError('usage', { detail: 'Missing --path: a proof is for one path.', next });
  }
  const path = requirePath(options.path);
  await requireSession(context);
  const internId = await takeInternId(context, intern);
  const request = { internId, bodySha256: await takeDigest(context, options), path };
  const proof = await signFor(context, request, takeTrace(context));
  context.terminal.result(proof, ...Object.entries(proof).map(([name, value]) => `${name}: ${value}`));
}
