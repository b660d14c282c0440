import {
  headersOf,
  isBodySha256,
  isInternId,
  isPath,
  isSingleUse,
  newestSignature,
  PROOF_METHOD,
  type ProofHeaderValues,
  parseProofHeaders,
} from '@ori/proof/wire';
import { clockAheadSeconds } from './clock.ts';
import { CliError } from './errors.ts';
import type { ApiAnswer } from './refusal.ts';

/** The subject of a requested proof. */
export interface ProofRequest {
  readonly internId: string;
  readonly bodySha256: string;
  readonly path: string;
}

/** Throws `intern_id_malformed` for an id that no intern can have, which the API would answer with 404. */
export function requireInternId(internId: string): string {
  if (!isInternId(internId)) throw new CliError('intern_id_malformed', { internId });
  return internId;
}

/**
 * Throws `path_not_signable` for a path that a proof cannot cover. Does not encode or decode anything.
 */
export function requirePath(path: string): string {
  if (!isPath(path)) throw new CliError('path_not_signable', { path });
  return path;
}

/** Throws `usage` for anything but 64 lower-case hex digits. */
export function requireBodySha256(text: string): string {
  if (!isBodySha256(text)) {
    throw new CliError('usage', {
      detail: '--body-sha256 requires the SHA-256 of the body in 64 lower-case hex digits.',
      next: 'Get it with: sha256sum FILE',
    });
  }
  return text;
}

export function signingBody({ bodySha256, path }: ProofRequest): string {
  return JSON.stringify({ bodySha256, route: { method: PROOF_METHOD, path } });
}

/**
 * The proof headers from a signing response. Every value becomes a header of another request, so each must be in its
 * alphabet; a proof of version 1 covers no path. Undefined for any other answer.
 */
export function readProof(answer: unknown): ProofHeaderValues | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const entries: [string, unknown][] = Object.entries(answer);
  const headers = entries.flat();
  if (!headers.every((part) => typeof part === 'string')) return undefined;
  try {
    const { version } = newestSignature(parseProofHeaders(headers));
    return isSingleUse(version) && entries.length === headersOf(version).length
      ? (answer as ProofHeaderValues)
      : undefined;
  } catch {
    return undefined;
  }
}

/** How far a proof's time may be from that of its answer, in seconds; a daemon takes none that is older by default. */
const MOMENT_SECONDS = 60;

/**
 * Whether a proof was made for this answer, by the `Date` of the answer, because the clock of this computer may be wrong; by that clock
 * without a `Date`.
 */
export function isOfNow(proof: ProofHeaderValues, { headers }: ApiAnswer, nowSeconds: number): boolean {
  const signedAt = Number(proof['x-ori-invoke-timestamp']);
  const { date, age } = headers;
  const told = { date: String(date), age: String(age) };
  return Math.abs(clockAheadSeconds(told, signedAt) ?? signedAt - nowSeconds) <= MOMENT_SECONDS;
}
