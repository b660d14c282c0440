import { randomUUID } from 'node:crypto';
import type { ProofHeaderValues } from '@ori/proof/wire';
import { callDaemon, type DaemonCall, type DaemonResponse } from '../adapters/daemon.ts';
import { bodyOf, type RequestBody } from '../adapters/request-body.ts';
import { parseDaemonAddress } from '../core/address.ts';
import { CliError, isCliError } from '../core/errors.ts';
import { questionPath } from '../core/evidence.ts';
import { parseHeaders } from '../core/extra-headers.ts';
import { requirePath } from '../core/proof-request.ts';
import { retryAfterSeconds } from '../core/refusal.ts';
import { requireSession } from './access.ts';
import { type BodyOptions, takeBody } from './body-options.ts';
import { type Context, takeTrace, variable } from './context.ts';
import { type DaemonAnswer, readAnswer } from './daemon-answer.ts';
import { findDaemon } from './daemon-origin.ts';
import { type Delivery, deliver, lossOf } from './deliver.ts';
import { takeInternId } from './intern-id.ts';
import { type Keeper, openKeeper } from './keeper.ts';
import type { Attempt } from './questions.ts';
import { signFor } from './sign-for.ts';

/** How long a daemon may be silent. */
export const SILENCE_SECONDS_DEFAULT = 300;
const CONTENT_TYPE_DEFAULT = 'application/json';
/** The maximum Retry-After that is waited for, in seconds. */
const PAUSE_SECONDS_MAX = 30;
const NO_BODY = bodyOf(new Uint8Array());

export interface CallOptions extends BodyOptions, TargetOptions {
  readonly contentType?: string;
  /** Additional headers, `Name: value`. */
  readonly header?: readonly string[];
}

export interface ReadyCall extends AsyncDisposable {
  readonly origin: URL;
  readonly contentType: string;
  readonly body: RequestBody;
  /** Signs and sends the call, and judges what comes back. Throws as `deliver`. */
  send(): Promise<{ answer: DaemonAnswer; proof: ProofHeaderValues }>;
  /** Sends the same request without a proof, as anybody could. */
  sendUnproven(): Promise<DaemonAnswer>;
}

export interface CallTarget {
  readonly internId: string;
  readonly origin: URL;
  readonly keeper: Keeper;
}

export interface TargetOptions {
  /** Origin of the daemon; by default `ORI_DAEMON_URL`, otherwise that of `findDaemon`. */
  readonly daemon?: string;
  /** How long the daemon may be silent, in seconds. */
  readonly timeout?: number;
}

export interface CallRequest {
  readonly path: string;
  readonly contentType?: string | undefined;
  /** Additional headers, by name in lower case. No proof covers them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RequestBody;
  readonly silenceSeconds?: number | undefined;
  /** Called when the whole request was handed to the operating system. */
  readonly onFlushed?: (() => void) | undefined;
  /** The proof of an earlier attempt, whose answer is wanted instead of a new call. */
  readonly earlier?: ProofHeaderValues | undefined;
  /** Called with each proof of this call, before it is sent. */
  readonly onSigned?: ((proof: ProofHeaderValues) => void) | undefined;
  readonly patienceSeconds?: Delivery['patienceSeconds'];
  readonly isMissing?: Delivery['isMissing'];
  readonly isDiagnosing?: boolean;
}

/** Checks the command line, finds the daemon and hashes the body. Nothing is sent to the daemon yet. */
export async function prepareCall(
  context: Context,
  intern: string,
  path: string,
  options: CallOptions,
  { isDiagnosing = false } = {},
): Promise<ReadyCall> {
  requirePath(path);
  const { 'content-type': typed, ...headers } = parseHeaders(options.header ?? []);
  const target = await findTarget(context, intern, options);
  const body = await takeBody(context, options);
  const contentType = options.contentType ?? typed;
  const request = { path, contentType, headers, body, silenceSeconds: options.timeout, isDiagnosing };
  return readyCall(context, target, request);
}

/**
 * The intern that the user named, and its daemon. Throws CliError `address_not_usable`, and the errors of
 * `requireSession`, `takeInternId` and `findDaemon`.
 */
export async function findTarget(
  context: Context,
  intern: string,
  options: Pick<TargetOptions, 'daemon'>,
): Promise<CallTarget> {
  const named = options.daemon ?? variable(context, 'ORI_DAEMON_URL');
  const address = named === undefined ? undefined : parseDaemonAddress(named);
  const { base_url } = await requireSession(context);
  const internId = await takeInternId(context, intern);
  const origin = address ?? (await findDaemon(context, base_url, internId));
  return { internId, origin, keeper: await openKeeper(context, base_url, origin) };
}

/** A call with a hashed body to a known daemon. Nothing is sent yet. */
export function readyCall(
  context: Context,
  { internId, origin, keeper }: CallTarget,
  { path, headers: given, body, ...request }: CallRequest,
): ReadyCall {
  const { contentType = CONTENT_TYPE_DEFAULT, silenceSeconds = SILENCE_SECONDS_DEFAULT } = request;
  const { onFlushed, onSigned, earlier, patienceSeconds, isMissing, isDiagnosing } = request;
  // The same each time that the call is sent, so that a daemon can tell a repeated call from another one.
  const headers = { 'idempotency-key': `"${randomUUID()}"`, ...given };
  const trace = takeTrace(context, given['traceparent']);
  const sending = { origin, contentType, headers, silenceSeconds, trace };
  const signAndSend = async (
    call: Pick<DaemonCall, 'path' | 'body'> & Partial<DaemonCall>,
    signed?: (proof: ProofHeaderValues) => void,
  ): Promise<Attempt> => {
    const request = { internId, bodySha256: call.body.sha256, path: call.path };
    const proof = await signFor(context, request, trace);
    signed?.(proof);
    try {
      const answer = await readAnswer(await present(context, { ...sending, ...call, proof }));
      return { proof, answer, lost: lossOf(answer) };
    } catch (error) {
      if (isCliError(error, 'answer_lost')) return { proof, lost: error };
      throw error;
    }
  };
  let last = earlier;
  const delivery = {
    context,
    origin,
    keeper,
    seconds: silenceSeconds,
    patienceSeconds,
    pauseNamed,
    isMissing,
    isDiagnosing,
    send: () =>
      signAndSend({ path, body, onFlushed }, (proof) => {
        last = proof;
        onSigned?.(proof);
      }),
    ask: (path: string, silenceSeconds: number) => signAndSend({ path, body: NO_BODY, silenceSeconds }),
  };
  const tellOfQuestion = (error: unknown): never => {
    if (last !== undefined && isCliError(error, 'interrupted')) {
      const question = `${internId} ${questionPath(String(last['x-ori-invoke-nonce']))} --data ''`;
      context.terminal.note(
        `The call may be carried out. To ask the daemon for its answer: ori call ${question}`,
      );
    }
    throw error;
  };
  return {
    origin,
    contentType,
    body,
    async send() {
      const why = 'the program that made it was cut off';
      const lost = new CliError('answer_lost', { address: origin.origin, why });
      const attempt = earlier === undefined ? undefined : { proof: earlier, lost };
      return deliver(delivery, attempt).catch(tellOfQuestion);
    },
    sendUnproven: async () =>
      readAnswer(await present(context, { ...sending, headers: given, path, body, proof: {} })),
    [Symbol.asyncDispose]: () => body[Symbol.asyncDispose](),
  };
}

async function present(context: Context, call: DaemonCall): Promise<DaemonResponse> {
  const { terminal, interrupted } = context;
  const { origin, path, body, proof } = call;
  const names = Object.keys(proof).join(', ') || 'no proof';
  terminal.detail(`POST ${origin.origin}${path}, ${body.bytes} bytes, with ${names}`);
  const response = await callDaemon(call, interrupted);
  terminal.detail(`${response.status}, with ${Object.keys(response.headers).join(', ')}`);
  return response;
}

// The only refusal that a new proof can fix: the daemon refused the old one without spending it.
function pauseNamed({ status, headers, code }: DaemonAnswer): number | undefined {
  if (status !== 401 || code !== 'proof_before_fence') return undefined;
  const seconds = retryAfterSeconds(headers);
  return seconds !== undefined && seconds <= PAUSE_SECONDS_MAX ? seconds : undefined;
}
