import { setTimeout as pause } from 'node:timers/promises';
import type { ProofHeaderValues } from '@ori/proof/wire';
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
import { type DaemonAnswer, readAnswer } from './daemon-answer.ts';
import { findDaemon } from './daemon-origin.ts';

const SILENCE_SECONDS_DEFAULT = 300;
/** A longer pause than this is not waited for. */
const PAUSE_SECONDS_MAX = 30;

export interface CallOptions extends BodyOptions {
  readonly daemon?: string;
  readonly contentType: string;
  readonly timeout?: number;
}

/** A call whose body is hashed and whose daemon is known. */
export interface ReadyCall extends AsyncDisposable {
  readonly origin: URL;
  readonly body: RequestBody;
  /** Has the call signed and sends it; once more, newly signed, after the pause that a daemon names. */
  send(): Promise<{ answer: DaemonAnswer; proof: ProofHeaderValues }>;
}

/** Checks what the command line says, finds the daemon, hashes the body. Nothing is sent to the daemon yet. */
export async function prepareCall(
  context: Context,
  internId: string,
  path: string,
  options: CallOptions,
): Promise<ReadyCall> {
  requireInternId(internId);
  requirePath(path);
  const named = options.daemon ?? variable(context, 'ORI_DAEMON_URL');
  const address = named === undefined ? undefined : parseDaemonAddress(named);
  await requireSession(context);
  const origin = address ?? (await findDaemon(context, internId));
  const body = await takeBody(context, options);
  const { contentType, timeout: silenceSeconds = SILENCE_SECONDS_DEFAULT } = options;
  const signAndSend = async () => {
    const { proof, response } = await attempt(context, internId, {
      origin,
      path,
      contentType,
      silenceSeconds,
      body,
    });
    return { proof, answer: await readAnswer(response) };
  };
  return {
    origin,
    body,
    async send() {
      const sent = await signAndSend();
      const seconds = pauseNamed(sent.answer);
      if (seconds === undefined) return sent;
      context.terminal.note(`The daemon’s replay store was restarted; signing again in ${seconds} s.`);
      sent.answer.end();
      await waited(seconds, context.interrupted);
      return signAndSend();
    },
    [Symbol.asyncDispose]: () => body[Symbol.asyncDispose](),
  };
}

interface Sending {
  readonly origin: URL;
  readonly path: string;
  readonly contentType: string;
  readonly silenceSeconds: number;
  readonly body: RequestBody;
}

async function attempt(
  context: Context,
  internId: string,
  sending: Sending,
): Promise<{ proof: ProofHeaderValues; response: DaemonResponse }> {
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
  return { proof, response };
}

// The one refusal that a new proof cures: the daemon judged the old one before it spent anything.
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
