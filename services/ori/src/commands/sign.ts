import { requestProof } from '../adapters/signer.ts';
import { CliError } from '../core/errors.ts';
import { requirePath } from '../core/proof-request.ts';
import { requireSession, withAccessToken } from './access.ts';
import { type DigestOptions, takeDigest } from './body-options.ts';
import type { Context } from './context.ts';
import { explainUnsigned, takeInternId } from './intern-id.ts';
import { takeTrace } from './trace.ts';

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
  const trace = takeTrace(context);
  const proof = await withAccessToken(context, (session, credential) => {
    context.terminal.detail(`POST ${session.base_url}/interns/${internId}/daemon/sign`);
    return requestProof(session.base_url, credential, request, { trace, signal: context.interrupted });
  }).catch((error) => explainUnsigned(context, internId, error));
  if (context.json) context.terminal.printJson(proof);
  else context.terminal.print(...Object.entries(proof).map(([name, value]) => `${name}: ${value}`));
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
