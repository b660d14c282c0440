import type { ClientRequest, IncomingHttpHeaders } from 'node:http';
import { explainSystemError } from '@ori/faces/system-error';
import { readToEnd } from '@ori/http/read-to-end';
import type { Traceparent } from '@ori/http/traceparent';
import { PROOF_METHOD } from '@ori/proof/wire';
import { CliError, isCliError } from '../core/errors.ts';
import { drained } from '../text/terminal.ts';
import { type OpenedRequest, openRequest, type Peer } from './http-request.ts';
import type { RequestBody } from './request-body.ts';
import { renderTraceparent } from './trace.ts';
import { USER_AGENT } from './user-agent.ts';

const CONNECT_SECONDS = 10;

export interface DaemonCall {
  readonly origin: URL;
  /** Sent unchanged, byte for byte. */
  readonly path: string;
  readonly contentType: string;
  /** Additional headers, by name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: RequestBody;
  /** The headers of a proof, by name in lower case. */
  readonly proof: Readonly<Record<string, string>>;
  readonly trace: Traceparent;
  /** How long the daemon may be silent, in seconds. */
  readonly silenceSeconds: number;
  /** Called when the whole request was handed to the operating system. */
  readonly onFlushed?: (() => void) | undefined;
}

/** The head of an answer, and its body, which can be read once. */
export interface DaemonResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Content-Type as sent; empty if there is none. */
  readonly mediaType: string;
  readonly traceId: string;
  /** Throws CliError `answer_lost` or `interrupted` if the rest does not arrive. */
  readonly body: AsyncIterable<Buffer>;
  /** Discards the unread rest. */
  end(): void;
}

export function daemonPeer(origin: URL): Peer {
  return { what: 'the daemon', address: origin.origin };
}

/**
 * Sends exactly the path and the hashed bytes with their proof, and returns the head of the answer; its body is not
 * read yet. Does not follow redirects. Throws CliError `unreachable` or `timed_out` if there was no connection, `answer_lost` if it
 * broke, `body_changed` or `interrupted`.
 */
export async function callDaemon(call: DaemonCall, signal: AbortSignal): Promise<DaemonResponse> {
  const peer = daemonPeer(call.origin);
  const limits = { connectSeconds: CONNECT_SECONDS, silenceSeconds: call.silenceSeconds, signal };
  const headers = {
    accept: '*/*',
    traceparent: renderTraceparent(call.trace),
    ...call.headers,
    ...call.proof,
    'content-type': call.contentType,
    'content-length': call.body.bytes,
    'user-agent': call.headers['user-agent'] ?? USER_AGENT,
    connection: 'close',
  };
  const opened = await openRequest(
    call.origin,
    { method: PROOF_METHOD, path: call.path, headers },
    limits,
    peer,
  );
  opened.request.once('socket', readToEnd);
  // Not awaited: the answer may arrive before the last byte is sent, and counts then.
  void sendBody(opened.request, call);
  return answered(opened, peer, call);
}

async function answered(
  { request, answer, cause, isConnected }: OpenedRequest,
  { address }: Peer,
  { trace: { traceId }, silenceSeconds }: DaemonCall,
): Promise<DaemonResponse> {
  const response = await answer.catch((error) => {
    throw isConnected() ? lostBy(error, { address }) : error;
  });
  async function* body(): AsyncIterable<Buffer> {
    try {
      for await (const chunk of response) {
        // While the reader pauses, as `less` does, the daemon is not silent.
        request.setTimeout(0);
        yield chunk;
        request.setTimeout(silenceSeconds * 1000);
      }
    } catch (error) {
      throw lostBy(cause() ?? error, { address, isBegun: true });
    }
  }
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    mediaType: response.headersDistinct['content-type']?.join(', ') ?? '',
    traceId,
    body: body(),
    end: () => void request.destroy(),
  };
}

/** The failure of a request that may have arrived. */
function lostBy(error: unknown, place: { readonly address: string; readonly isBegun?: boolean }): unknown {
  const lost = (why: string) => new CliError('answer_lost', { ...place, why }, { cause: error });
  if (isCliError(error, 'timed_out')) return lost(`nothing arrived within ${error.facts.seconds} s`);
  if (isCliError(error, 'unreachable')) return lost(error.facts.why);
  return error instanceof CliError ? error : lost(explainSystemError(error));
}

async function sendBody(
  request: ClientRequest,
  { body, onFlushed }: Pick<DaemonCall, 'body' | 'onFlushed'>,
): Promise<void> {
  try {
    for await (const chunk of body.chunks()) {
      if (request.destroyed) return;
      if (!request.write(chunk)) await drained(request);
    }
    request.end(onFlushed);
  } catch (error) {
    request.destroy(error instanceof Error ? error : new Error('the body cannot be read'));
  }
}
