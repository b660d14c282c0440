import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { SignedIn } from './sign-in.ts';

export interface FirstProofRequest {
  readonly baseUrl: string;
  readonly daemonUrl: string;
  readonly internId: string;
  readonly session: Pick<SignedIn, 'send'>;
}

export interface FirstProof {
  readonly user: string;
  readonly nonce: string;
}

/** Generous, because the computer is busy while everything starts. */
const RETRIES_MAX = 4;
const RETRY_MS = 1000;

const PATH = '/api/invoke';
const BODY = '{"prompt":"hello"}';
const BODY_SHA256 = createHash('sha256').update(BODY).digest('hex');

/**
 * Tries one proof end to end over HTTP, like a client: hashes a request, gets it signed, sends it to the daemon, and
 * then sends exactly the same again.
 *
 * @throws Error unless the daemon answers the first with 200 and refuses the second as `nonce_replayed`
 */
export async function proveOnce(request: FirstProofRequest): Promise<FirstProof> {
  const proof = await sign(request);
  const answer = await call(request.daemonUrl, proof);
  if (answer.user === undefined)
    throw new Error(`the daemon answered ${answer.status} ${answer.code}, not 200`);
  const replayed = await call(request.daemonUrl, proof);
  if (replayed.code !== 'nonce_replayed')
    throw new Error(`the daemon answered a replay ${replayed.status} ${replayed.code}`);
  return { user: answer.user, nonce: proof['x-ori-invoke-nonce'] ?? '' };
}

async function sign(request: FirstProofRequest, retries = RETRIES_MAX): Promise<Record<string, string>> {
  const { baseUrl, internId, session } = request;
  const response = await session.send(
    `${baseUrl}/interns/${internId}/daemon/sign`,
    JSON.stringify({ bodySha256: BODY_SHA256, route: { method: 'POST', path: PATH } }),
  );
  if (response.ok) return (await response.json()) as Record<string, string>;
  const answer = await response.text();
  if (retries === 0 || !answer.includes('"retryable":true')) {
    throw new Error(`the signer answered ${response.status} ${answer}`);
  }
  await setTimeout(RETRY_MS);
  return sign(request, retries - 1);
}

interface DaemonAnswer {
  readonly status: number;
  readonly user: string | undefined;
  readonly code: string | undefined;
}

async function call(daemonUrl: string, proof: Record<string, string>): Promise<DaemonAnswer> {
  const headers = { ...proof, 'content-type': 'application/json' };
  const response = await fetch(daemonUrl + PATH, { method: 'POST', headers, body: BODY });
  const { user, error } = (await response.json()) as { user?: string; error?: { code: string } };
  return { status: response.status, user, code: error?.code };
}
