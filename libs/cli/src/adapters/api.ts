import type { OutgoingHttpHeaders } from 'node:http';
import { explainSystemError } from '@ori/terminal/system-error';
import { CliError } from '../core/errors.ts';
import type { ApiAnswer } from '../core/refusal.ts';
import { openRequest, type Peer } from './http-request.ts';
import { USER_AGENT } from './user-agent.ts';

const CONNECT_SECONDS = 10;
/** From the first byte to the last. The signer's own deadline is 5 s; a gateway may add some. */
const ANSWER_SECONDS = 20;
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'OPTIONS';
  readonly accessToken?: string;
  /** JSON text. */
  readonly body?: string;
}

/**
 * One request to the API and its whole answer, whatever the status. No redirect is followed: the bearer goes
 * nowhere else. Throws CliError `unreachable`, `timed_out`, `answer_not_understood` (an answer without end)
 * or `interrupted`.
 */
export async function requestApi(
  url: string,
  { method, accessToken, body }: ApiRequest,
  interrupted: AbortSignal,
  peer: Peer = { what: 'the API', address: new URL(url).origin },
): Promise<ApiAnswer> {
  const target = new URL(url);
  const headers: OutgoingHttpHeaders = { accept: 'application/json', 'user-agent': USER_AGENT };
  if (accessToken !== undefined) headers.authorization = `Bearer ${accessToken}`;
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
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of response) {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX)
        throw new CliError('answer_not_understood', { ...peer, why: 'it is too long' });
      chunks.push(chunk);
    }
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      body: Buffer.concat(chunks).toString('utf8'),
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
