import { randomUUID } from 'node:crypto';
import type { ProofHeaderValues } from '@ori/proof/wire';
import { callDaemon, type DaemonCall, type DaemonResponse } from '../adapters/daemon.ts';
import { bodyOf, type RequestBody } from '../adapters/request-body.ts';
import { parseDaemonAddress } from '../core/address.ts';
import { CliError, isCliError } from '../core/errors.ts';
import { parseHeaders } from '../core/extra-headers.ts';
import { requirePath } from '../core/proof-request.ts';
import { retryAfterSeconds } from '../core/refusal.ts';
import { type Surroundings, takeTrace, variable } from '../session/context.ts';
import { findDaemon } from '../session/daemon-origin.ts';
import { takeInternId } from '../session/intern-id.ts';
import { type Profile, requireSession } from '../session/profile.ts';
import { type BodyOptions, takeBody } from './body-options.ts';
import { type DaemonAnswer, readAnswer } from './daemon-answer.ts';
import { type Delivered, type Delivery, deliver, lossOf } from './deliver.ts';
import { questionPath } from './evidence.ts';
import { type Keeper, openKeeper } from './keeper.ts';
import type { Attempt } from './questions.ts';
import { signFor } from './sign.ts';

/** How long a daemon may be silent. */
export const SILENCE_SECONDS_DEFAULT = 300;
const CONTENT_TYPE_DEFAULT = 'application/json';
/** The maximum Retry-After that is waited for, in seconds. */
const PAUSE_SECONDS_MAX = 30;
const NO_BODY = bodyOf(new Uint8Array());

export interface TargetOptions {
  /** Origin of the daemon; by default `ORI_DAEMON_URL`, otherwise that of `findDaemon`. */
  readonly daemon?: string;
  /** How long the daemon may be silent, in seconds. */
  readonly timeout?: number;
}

export interface CallOptions extends BodyOptions, TargetOptions {
  readonly contentType?: string;
  /** Additional headers, `Name: value`. */
  readonly header?: readonly string[];
}

/** Who calls which intern, at which daemon. */
export interface CallTarget {
  readonly profile: Profile;
  readonly baseUrl: string;
  readonly internId: string;
  readonly origin: URL;
  readonly keeper: Keeper;
}

export interface CallRequest
  extends Pick<Delivery, 'patienceSeconds' | 'isMissing' | 'isDiagnosing' | 'isPassedOn'>,
    Pick<DaemonCall, 'path' | 'body' | 'onFlushed'> {
  readonly contentType?: string | undefined;
  /** Additional headers, by name in lower case. No proof covers them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly silenceSeconds?: number | undefined;
  /** The proof of an earlier attempt, whose answer is wanted instead of a new call. */
  readonly earlier?: ProofHeaderValues | undefined;
  /** Called with each proof of this call, before it is sent. */
  readonly onSigned?: ((proof: ProofHeaderValues) => void) | undefined;
}

export interface ReadyCall extends AsyncDisposable {
  readonly origin: URL;
  readonly contentType: string;
  readonly body: RequestBody;
  /** Signs and sends the call, and judges what comes back. Throws as `deliver`. */
  send(): Promise<Delivered>;
  /** Sends the same request without a proof, as anybody could. */
  sendUnproven(): Promise<DaemonAnswer>;
}

/** Checks the command line, finds the daemon and hashes the body. Nothing is sent to the daemon yet. */
export async function prepareCall(
  profile: Profile,
  intern: string,
  path: string,
  options: CallOptions,
  more: Pick<CallRequest, 'isDiagnosing' | 'isPassedOn'> = {},
): Promise<ReadyCall> {
  requirePath(path);
  const { 'content-type': typed, ...headers } = parseHeaders(options.header ?? []);
  const target = await findTarget(profile, intern, options);
  const body = await takeBody(profile, options);
  const contentType = options.contentType ?? typed;
  return readyCall(target, { ...more, path, contentType, headers, body, silenceSeconds: options.timeout });
}

/**
 * The intern that the user named, and its daemon. Throws CliError `address_not_usable`, and the errors of
 * `requireSession`, `takeInternId` and `findDaemon`.
 */
export async function findTarget(
  profile: Profile,
  intern: string,
  options: Pick<TargetOptions, 'daemon'>,
): Promise<CallTarget> {
  const named = options.daemon ?? variable(profile, 'ORI_DAEMON_URL');
  const address = named === undefined ? undefined : parseDaemonAddress(named);
  const { base_url } = await requireSession(profile);
  const internId = await takeInternId(profile, intern);
  const origin = address ?? (await findDaemon(profile, base_url, internId));
  const keeper = await openKeeper(profile, base_url, origin);
  return { profile, baseUrl: base_url, internId, origin, keeper };
}

/** A call with a hashed body to a known daemon. Nothing is sent yet. */
export function readyCall(target: CallTarget, request: CallRequest): ReadyCall {
  const { profile, internId, origin, keeper } = target;
  const { path, body, earlier, onSigned, onFlushed } = request;
  const { contentType = CONTENT_TYPE_DEFAULT, silenceSeconds = SILENCE_SECONDS_DEFAULT } = request;
  // The same each time that the call is sent, so that a daemon can tell a repeated call from another one.
  const headers = { 'idempotency-key': `"${randomUUID()}"`, ...request.headers };
  const trace = takeTrace(profile, request.headers['traceparent']);
  const sending = { origin, path, contentType, headers, body, silenceSeconds, trace };
  let last = earlier;

  async function attempt(
    call: Omit<DaemonCall, 'proof'>,
    signed?: CallRequest['onSigned'],
  ): Promise<Attempt> {
    const proof = await signFor(profile, { internId, bodySha256: call.body.sha256, path: call.path }, trace);
    signed?.(proof);
    try {
      const answer = await readAnswer(await present(profile, { ...call, proof }));
      return { proof, answer, lost: lossOf(answer) };
    } catch (error) {
      if (isCliError(error, 'answer_lost')) return { proof, lost: error };
      throw error;
    }
  }

  const delivery: Delivery = {
    ...request,
    surroundings: profile,
    address: origin.origin,
    keeper,
    seconds: silenceSeconds,
    pauseNamed,
    send: () =>
      attempt({ ...sending, onFlushed }, (proof) => {
        last = proof;
        onSigned?.(proof);
      }),
    ask: (path, silenceSeconds) => attempt({ ...sending, path, body: NO_BODY, silenceSeconds }),
  };
  return {
    origin,
    contentType,
    body,
    async send() {
      const why = 'the program that made it was cut off';
      const lost = new CliError('answer_lost', { address: origin.origin, why });
      try {
        const { requireProven } = await import('../proven/proving.ts');
        const call = { internId, bodySha256: body.sha256, path, proof: earlier };
        const by = await requireProven(profile, target.baseUrl, call, delivery);
        return await deliver(by, earlier && { proof: earlier, lost });
      } catch (error) {
        if (last !== undefined && isCliError(error, 'interrupted')) {
          const question = `${internId} ${questionPath(String(last['x-ori-invoke-nonce']))} --data ''`;
          profile.terminal.note(
            `The call may be carried out. To ask the daemon for its answer: ori call ${question}`,
          );
        }
        throw error;
      }
    },
    sendUnproven: async () =>
      readAnswer(await present(profile, { ...sending, headers: request.headers, proof: {} })),
    [Symbol.asyncDispose]: () => body[Symbol.asyncDispose](),
  };
}

async function present({ terminal, interrupted }: Surroundings, call: DaemonCall): Promise<DaemonResponse> {
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
