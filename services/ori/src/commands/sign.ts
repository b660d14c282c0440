import { CliError } from '../core/errors.ts';
import { requirePath } from '../core/proof-request.ts';
import { requireSession } from './access.ts';
import { type DigestOptions, takeDigest } from './body-options.ts';
import { type Context, takeTrace } from './context.ts';
import { takeInternId } from './intern-id.ts';
import { signFor } from './sign-for.ts';

export interface SignOptions extends DigestOptions {
  readonly path?: string;
  readonly v1Only?: boolean;
}

/** Prints the headers of a proof, one `name: value` per line, for `curl -H @FILE`. */
export async function sign(context: Context, intern: string, options: SignOptions): Promise<void> {
  const route = requireRoute(options);
  await requireSession(context);
  const internId = await takeInternId(context, intern);
  const request = { internId, bodySha256: await takeDigest(context, options), ...route };
  const proof = await signFor(context, request, takeTrace(context));
  context.terminal.result(proof, ...Object.entries(proof).map(([name, value]) => `${name}: ${value}`));
}

function requireRoute({ path, v1Only }: SignOptions): { path?: string } {
  if (v1Only === true && path !== undefined) {
    throw new CliError('usage', {
      detail: '--v1-only requests a proof that covers no path, so it excludes --path.',
    });
  }
  if (v1Only === true) return {};
  if (path === undefined) {
    throw new CliError('usage', {
      detail: 'Missing --path: a proof is for one path.',
      next: 'For example: --path /api/invoke (or --v1-only for a proof that covers none)',
    });
  }
  return { path: requirePath(path) };
}
