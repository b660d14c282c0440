import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { explainSystemError } from '@ori/terminal/system-error';
import { CliError } from '../core/errors.ts';

/** Whom a request goes to, in the words of a message. */
export interface Peer {
  readonly what: string;
  readonly address: string;
}

export interface RequestLimits {
  /** Until the connection, TLS included, stands. */
  readonly connectSeconds: number;
  /** Silence in either direction. */
  readonly silenceSeconds: number;
  readonly signal: AbortSignal;
}

/** A request under way. */
export interface OpenedRequest {
  readonly request: ClientRequest;
  /** The head of the answer. Rejects as CliError `unreachable`, `timed_out` or `interrupted`. */
  readonly answer: Promise<IncomingMessage>;
  /** Why the request failed, whatever its streams say of it; undefined when nothing here ended it. */
  cause(): CliError | undefined;
  /** Ends the request for want of time. */
  expire(seconds: number): void;
}

/**
 * Opens a request by node:http or node:https and hands back both of its ends: `fetch` would normalise the
 * path, and its start costs more than all else `ori` does. The path goes out byte for byte as given;
 * redirects come back as answers.
 */
export async function openRequest(
  origin: URL,
  options: Pick<RequestOptions, 'method' | 'path' | 'headers'>,
  limits: RequestLimits,
  peer: Peer,
): Promise<OpenedRequest> {
  const isTls = origin.protocol === 'https:';
  const { request: open } = isTls ? await import('node:https') : await import('node:http');
  const request = open({
    hostname: origin.hostname.replace(/^\[|\]$/g, ''),
    port: origin.port,
    // The default agent knows the proxies of the environment. What is plain goes past them: it must not leave
    // this machine.
    ...(isTls ? {} : { agent: false }),
    maxHeaderSize: 64 * 1024,
    signal: limits.signal,
    ...options,
  });
  let expired: CliError | undefined;
  const expire = (seconds: number) => {
    expired = new CliError('timed_out', { ...peer, seconds });
    request.destroy(expired);
  };
  const cause = () => (limits.signal.aborted ? new CliError('interrupted', {}) : expired);
  const connecting = setTimeout(() => expire(limits.connectSeconds), limits.connectSeconds * 1000);
  request.once('socket', (socket) => {
    // Through a proxy it comes with its handshake done.
    if (isTls && !socket.connecting) clearTimeout(connecting);
    else socket.once(isTls ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
  });
  request.once('close', () => clearTimeout(connecting));
  request.setTimeout(limits.silenceSeconds * 1000, () => expire(limits.silenceSeconds));
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', (error) => reject(cause() ?? toCliError(error, peer)));
  });
  answer.catch(() => {});
  return { request, answer, cause, expire };
}

function toCliError(error: unknown, peer: Peer): CliError {
  if (error instanceof CliError) return error;
  return new CliError('unreachable', { ...peer, why: explainSystemError(error) }, { cause: error });
}
