import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { CliError } from '../core/errors.ts';
import { explainSystemError } from './system-error.ts';

/** Whom a request goes to, in the words of a message. */
export interface Peer {
  readonly what: string;
  readonly address: string;
}

export interface RequestLimits {
  /** Until the connection, TLS included, stands. */
  readonly connectMs: number;
  /** Silence in either direction. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

/**
 * Opens a request by node:http or node:https and hands back both of its ends: `fetch` would normalise the path, and its
 * start costs more than all else `ori` does. The path goes out byte for byte as given; redirects come back as answers.
 * Failures on the way reject `answer` as CliError `unreachable`, `timed_out` or `interrupted`.
 */
export async function openRequest(
  origin: URL,
  options: Pick<RequestOptions, 'method' | 'path' | 'headers'>,
  limits: RequestLimits,
  peer: Peer,
): Promise<{ request: ClientRequest; answer: Promise<IncomingMessage> }> {
  const { request: open } =
    origin.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const request = open({
    hostname: origin.hostname.replace(/^\[|\]$/g, ''),
    port: origin.port,
    agent: false,
    maxHeaderSize: 64 * 1024,
    signal: limits.signal,
    ...options,
  });
  const timedOut = (ms: number) =>
    request.destroy(new CliError('timed_out', { ...peer, seconds: Math.ceil(ms / 1000) }));
  const connecting = setTimeout(() => timedOut(limits.connectMs), limits.connectMs);
  request.once('socket', (socket) => {
    socket.once(origin.protocol === 'https:' ? 'secureConnect' : 'connect', () => clearTimeout(connecting));
  });
  request.setTimeout(limits.idleMs, () => timedOut(limits.idleMs));
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', (error) => reject(toCliError(error, limits.signal, peer)));
    request.once('close', () => clearTimeout(connecting));
  });
  answer.catch(() => {});
  return { request, answer };
}

/** A failure of the connection in the CLI's own words; one of our own passes unchanged. */
export function toCliError(error: unknown, signal: AbortSignal, peer: Peer): CliError {
  if (signal.aborted) return new CliError('interrupted', {});
  if (error instanceof CliError) return error;
  return new CliError('unreachable', { ...peer, why: explainSystemError(error) }, { cause: error });
}
