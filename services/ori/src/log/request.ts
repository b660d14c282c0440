import { readFile } from 'node:fs/promises';
import { explainSystemError } from '@ori/faces/system-error';
import { type PresentedProof, ProofError, parseProofHeaders, type VerificationKey } from '@ori/proof';
import { readKeySet } from '../adapters/key-set.ts';
import { readSession } from '../adapters/session-store.ts';
import { CliError } from '../core/errors.ts';
import { requirePath } from '../core/proof-request.ts';
import { isSignedBy, signedCall } from '../core/signed-by.ts';
import { type DigestOptions, takeDigest } from '../delivery/body-options.ts';
import { takeInternId } from '../session/intern-id.ts';
import { baseUrlToSignIn, type Profile } from '../session/profile.ts';

export interface LoggedRequestOptions extends DigestOptions {
  /** A file with the headers that `ori sign` printed. */
  readonly headers: string;
  readonly path: string;
}

/** The call that the command line describes. Throws `usage` for a version 1 proof, which only its daemon can check. */
export async function takeLoggedRequest(profile: Profile, intern: string, options: LoggedRequestOptions) {
  const path = requirePath(options.path);
  const presented = readHeaders(await readText(options.headers));
  const internId = await takeInternId(profile, intern);
  const bodySha256 = await takeDigest(profile, options);
  return { internId, ...signedCall({ internId, bodySha256, path }, presented) };
}

export type LoggedRequest = Awaited<ReturnType<typeof takeLoggedRequest>>;

/**
 * Whether a published key of the intern signed exactly this call; undefined if no key for that time is published, or the
 * API cannot be reached.
 */
export async function isSigned(profile: Profile, request: LoggedRequest): Promise<boolean | undefined> {
  const keys = await keysOf(profile, request.internId).catch((error) => {
    if (error instanceof CliError && error.code !== 'interrupted') return undefined;
    throw error;
  });
  return keys && isSignedBy(keys, request);
}

/** The published keys of an intern, which need no session. Throws as `readKeySet`. */
export async function keysOf(
  profile: Profile,
  internId: string,
): Promise<readonly VerificationKey[] | undefined> {
  const session = await readSession(profile.place).catch(() => undefined);
  const baseUrl = baseUrlToSignIn(profile, session);
  profile.terminal.detail(`GET ${baseUrl}/interns/${internId}/daemon/jwks.json`);
  return (await readKeySet(baseUrl, internId, profile.interrupted))?.keys;
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
