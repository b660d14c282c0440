import { setTimeout as pause } from 'node:timers/promises';
import { callDaemon, type DaemonResponse } from '../adapters/daemon.ts';
import type { RequestBody } from '../adapters/request-body.ts';
import { requestProof } from '../adapters/signer.ts';
import { parseDaemonAddress } from '../core/address.ts';
import { CliError } from '../core/errors.ts';
import { requireInternId, requirePath } from '../core/proof-request.ts';
import { retryAfterSeconds } from '../core/refusal.ts';
import { requireSession, withAccessToken } from './access.ts';
import { type BodyOptions, takeBody } from './body-options.ts';
import { type Context, variable } from './context.ts';
import { type DaemonAnswer, presentAnswer, readAnswer } from './daemon-answer.ts';
import { findDaemon } from './daemon-origin.ts';

const SILENCE_SECONDS_DEFAULT = 300;
/** A longer pause than this is not waited for. */
const PAUSE_SECONDS_MAX = 30;

export interface CallOptions extends BodyOptions {
  readonly daemon?: string;
  readonly contentType: string;
  readonly timeout?: number;
}

/** Hashes the body, has the digest signed, sends the same bytes to the daemon, and prints its answer. */
export async function call(
  context: Context,
  internId: string,
  path: string,
  options: CallOptions,
): Promise<void> {
  requireInternId(internId);
  requirePath(path);
  const named = options.daemon ?? variable(context, 'ORI_DAEMON_URL');
  const address = named === undefined ? undefined : parseDaemonAddress(named);
  await requireSession(context);
  const origin = address ?? (await findDaemon(context, internId));
  await using body = await takeBody(context, options);
  const { contentType, timeout: silenceSeconds = SILENCE_SECONDS_DEFAULT } = options;
  const send = () => signAndSend(context, internId, { origin, path, contentType, silenceSeconds, body });
  let answer = await readAnswer(await send());
  const seconds = pauseNamed(answer);
  if (seconds !== undefined) {
    context.terminal.note(`The daemon’s replay store was restarted; signing again in ${seconds} s.`);
    answer.end();
    await waited(seconds, context.interrupted);
    answer = await readAnswer(await send());
  }
  await presentAnswer(context, answer, origin);
}

interface Sending {
  readonly origin: URL;
  readonly path: string;
  readonly contentType: string;
  readonly silenceSeconds: number;
  readonly body: RequestBody;
}

async function signAndSend(context: Context, internId: string, sending: Sending): Promise<DaemonResponse> {
  const { terminal, interrupted } = context;
  const { origin, path, body } = sending;
  const request = { internId, bodySha256: body.sha256, path };
  const proof = await withAccessToken(context, (session) => {
    terminal.detail(`POST ${session.base_url}/interns/${internId}/daemon/sign`);
    return requestProof(session.base_url, session.access_token, request, interrupted);
  });
  terminal.detail(`POST ${origin.origin}${path}, ${body.bytes} bytes, with ${Object.keys(proof).join(', ')}`);
  const response = await callDaemon({ ...sending, proof }, interrupted);
  terminal.detail(`${response.status}, with ${Object.keys(response.headers).join(', ')}`);
  return response;
}

// The one refusal that a new proof mends: the daemon judged the old one before it spent anything.
function pauseNamed({ status, headers, code }: DaemonAnswer): number | undefined {
  if (status !== 401 || code !== 'proof_before_fence') return undefined;
  const seconds = retryAfterSeconds(headers);
  return seconds !== undefined && seconds <= PAUSE_SECONDS_MAX ? seconds : undefined;
}

async function waited(seconds: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(seconds * 1000, undefined, { signal });
  } catch {
    throw new CliError('interrupted', {});
  }
}
