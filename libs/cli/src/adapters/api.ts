import type { OutgoingHttpHeaders } from 'node:http';
import { CliError } from '../core/errors.ts';
import type { ApiAnswer } from '../core/refusal.ts';
import { openRequest, type Peer, toCliError } from './http-request.ts';
import { USER_AGENT } from './user-agent.ts';

const CONNECT_MS = 10_000;
/** The signer's own deadline is 5 s; a gateway may add some. */
const ANSWER_MS = 20_000;
const ANSWER_BYTES_MAX = 8 * 1024 * 1024;

export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  readonly accessToken?: string;
  /** JSON text. */
  readonly body?: string;
}

/**
 * One request to the API and its whole answer, whatever the status. No redirect is followed: the bearer goes nowhere else.
 * Throws CliError `unreachable`, `timed_out`, `answer_not_understood` (an answer without end) or `interrupted`.
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
  const limits = { connectMs: CONNECT_MS, idleMs: ANSWER_MS, signal: interrupted };
  const { request, answer } = await openRequest(target, { method, path, headers }, limits, peer);
  const tooLate = new CliError('timed_out', { ...peer, seconds: ANSWER_MS / 1000 });
  const deadline = setTimeout(() => request.destroy(tooLate), CONNECT_MS + ANSWER_MS);
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
    throw toCliError(error, interrupted, peer);
  } finally {
    clearTimeout(deadline);
    request.destroy();
  }
}
