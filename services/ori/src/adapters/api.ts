import type { OutgoingHttpHeaders } from 'node:http';
import { explainSystemError } from '@ori/faces/system-error';
import type { Traceparent } from '@ori/http/traceparent';
import { CliError } from '../core/errors.ts';
import type { ApiAnswer } from '../core/refusal.ts';
import { readBounded } from './bounded.ts';
import { openRequest } from './http-request.ts';
import { type ProofKey, sha256 } from './proof-key.ts';
import { renderTraceparent } from './trace.ts';
import { USER_AGENT } from './user-agent.ts';

const CONNECT_SECONDS = 10;
/** For the whole exchange. The signer's own deadline is 5 s; a gateway may add some. */
const ANSWER_SECONDS = 20;
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

export interface Credential {
  readonly accessToken: string;
  readonly key?: ProofKey;
}

/** The API answered 401. A refresh may help, once. */
export class TokenRefused extends Error {
  override readonly name = 'TokenRefused';
  readonly answer: ApiAnswer;

  constructor(answer: ApiAnswer) {
    super();
    this.answer = answer;
  }
}

export interface ApiRequest {
  readonly method: string;
  readonly credential?: Credential;
  /** JSON text. */
  readonly body?: string;
  readonly trace?: Traceparent;
  /** Additional headers, by name in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * One request to the API and its whole answer, whatever the status. No redirect is followed: the token goes nowhere
 * else. If the server demands its nonce in the DPoP proof (RFC 9449, section 9), the request is repeated with it.
 * Throws CliError `unreachable`, `timed_out`, `answer_not_understood` (the answer is too long) or `interrupted`.
 */
export async function requestApi(
  url: string,
  request: ApiRequest,
  interrupted: AbortSignal,
): Promise<ApiAnswer> {
  const answer = await requestOnce(url, request, interrupted);
  const key = request.credential?.key;
  const nonce = answer.headers['dpop-nonce'];
  if (key === undefined || typeof nonce !== 'string') return answer;
  key.nonce = nonce;
  const asked =
    answer.status === 401 && /error="use_dpop_nonce"/.test(String(answer.headers['www-authenticate']));
  return asked ? requestOnce(url, request, interrupted) : answer;
}

/** The same, without the retry for a nonce. */
export async function requestOnce(
  url: string,
  { method, credential, body, trace, headers: more }: ApiRequest,
  interrupted: AbortSignal,
): Promise<ApiAnswer> {
  const target = new URL(url);
  const peer = { what: 'the API', address: target.origin };
  const headers: OutgoingHttpHeaders = { accept: 'application/json', 'user-agent': USER_AGENT, ...more };
  if (credential !== undefined) {
    const { accessToken, key } = credential;
    headers.authorization = `${key === undefined ? 'Bearer' : 'DPoP'} ${accessToken}`;
    if (key !== undefined) headers['dpop'] = key.prove(method, target, accessToken, sha256(body ?? ''));
  }
  if (trace !== undefined) headers['traceparent'] = renderTraceparent(trace);
  if (body !== undefined) {
    headers['content-type'] = 'application/json';
    headers['content-length'] = Buffer.byteLength(body);
  }
  const path = `${target.pathname}${target.search}`;
  const limits = { connectSeconds: CONNECT_SECONDS, silenceSeconds: ANSWER_SECONDS, signal: interrupted };
  const opened = await openRequest(target, { method, path, headers }, limits, peer);
  const { request, answer } = opened;
  const deadline = setTimeout(() => opened.expire(ANSWER_SECONDS), ANSWER_SECONDS * 1000);
  request.end(body);
  try {
    const response = await answer;
    const tooLong = () => new CliError('answer_not_understood', { ...peer, why: 'it is too long' });
    const bytes = await readBounded(response, ANSWER_BYTES_MAX, tooLong);
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: bytes.toString('utf8'),
      traceId: trace?.traceId,
    };
  } catch (error) {
    throw (
      opened.cause() ??
      (error instanceof CliError
        ? error
        : new CliError('unreachable', { ...peer, why: explainSystemError(error) }, { cause: error }))
    );
  } finally {
    clearTimeout(deadline);
    request.destroy();
  }
}
