import { readFile } from 'node:fs/promises';
import { explainSystemError } from '@ori/faces/system-error';
import {
  holdsTimestamp,
  newestSignature,
  PROOF_METHOD,
  type PresentedProof,
  ProofError,
  parseProofHeaders,
  signingInput,
  type VerificationKey,
} from '@ori/proof';
import { publishedKeys } from '../adapters/key-set.ts';
import { readSession } from '../adapters/session-store.ts';
import { type DigestOptions, takeDigest } from '../commands/body-options.ts';
import { baseUrlToSignIn, type Context, sessionPlace } from '../commands/context.ts';
import { takeInternId } from '../commands/intern-id.ts';
import { CliError } from '../core/errors.ts';
import { requirePath } from '../core/proof-request.ts';

export interface LoggedRequestOptions extends DigestOptions {
  /** A file with the headers that `ori sign` printed. */
  readonly headers: string;
  readonly path: string;
}

/** The call that the command line describes. Throws `usage` for a version 1 proof, which only its daemon can check. */
export async function takeLoggedRequest(context: Context, intern: string, options: LoggedRequestOptions) {
  const path = requirePath(options.path);
  const presented = readHeaders(await readText(options.headers));
  const { timestamp, user } = presented;
  const { version, nonce, signature } = newestSignature(presented);
  if (nonce === undefined) {
    throw new CliError('usage', {
      detail: 'These are the headers of a version 1 proof: only its daemon can check it.',
    });
  }
  const internId = await takeInternId(context, intern);
  const bodySha256 = await takeDigest(context, options);
  const named = { internId, timestamp, user, nonce, path, bodySha256 };
  const input = signingInput(version, { ...named, method: PROOF_METHOD });
  return { internId, timestamp, signature, signingInput: input };
}

export type LoggedRequest = Awaited<ReturnType<typeof takeLoggedRequest>>;

/**
 * Whether a published key of the intern signed exactly this call; undefined if no key for that time is published, or the
 * API cannot be reached.
 */
export async function isSigned(
  context: Context,
  { internId, timestamp, signingInput, signature }: LoggedRequest,
): Promise<boolean | undefined> {
  const keys = await keysOf(context, internId).catch((error) => {
    if (error instanceof CliError && error.code !== 'interrupted') return undefined;
    throw error;
  });
  const candidates = keys?.filter((key) => holdsTimestamp(key, timestamp)) ?? [];
  if (candidates.length === 0) return undefined;
  return candidates.some((key) => key.verify(signingInput, signature));
}

/** The published keys of an intern, which need no session. Throws as `publishedKeys`. */
export async function keysOf(
  context: Context,
  internId: string,
): Promise<readonly VerificationKey[] | undefined> {
  const session = await readSession(sessionPlace(context)).catch(() => undefined);
  const baseUrl = baseUrlToSignIn(context, session);
  context.terminal.detail(`GET ${baseUrl}/interns/${internId}/daemon/jwks.json`);
  return publishedKeys(baseUrl, internId, context.interrupted);
}

/** `name: value` lines, as in curl. */
function readHeaders(text: string): PresentedProof {
  const rawHeaders = text.split(/\r?\n/).flatMap((line) => {
    const colon = line.indexOf(':');
    return colon < 0 ? [] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
  try {
    return parseProofHeaders(rawHeaders);
  } catch (error) {
    if (!(error instanceof ProofError)) throw error;
    throw new CliError('usage', {
      detail: `The file of --headers does not contain a proof: ${error.message}.`,
    });
  }
}

/** Throws `usage` if the file cannot be read. */
export async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CliError('usage', { detail: `Cannot read ${file}: ${explainSystemError(error)}.` });
  }
}
