import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import type { LookupFunction } from 'node:net';
import { explainSystemError } from '@ori/faces/system-error';
import { CliError } from '../core/errors.ts';

let unusableProxy: string | undefined;

/** From now on, https requests fail with this reason: they must not go around the proxy that the person wants. */
export function refuseHttps(reason: string): void {
  unusableProxy = reason;
}

/** Throws CliError `usage` if a request to this address needs a proxy that cannot be used. */
export function requireProxy({ protocol }: URL): void {
  if (protocol !== 'https:' || unusableProxy === undefined) return;
  throw new CliError('usage', { detail: `${unusableProxy}.`, next: 'Set it to an http proxy, or unset it.' });
}

/** The target of a request, as named in messages. */
export interface Peer {
  readonly what: string;
  readonly address: string;
}

export interface RequestLimits {
  /** Time limit for connecting, including TLS. */
  readonly connectSeconds: number;
  /** Time limit for silence in either direction. */
  readonly silenceSeconds: number;
  readonly signal: AbortSignal;
}

export interface OpenedRequest {
  readonly request: ClientRequest;
  /** The head of the answer. Rejects as CliError `unreachable`, `timed_out` or `interrupted`. */
  readonly answer: Promise<IncomingMessage>;
  /** Why the request failed, whatever error its streams report; undefined if it was not ended here. */
  cause(): CliError | undefined;
  /** Whether a connection was made, so that the request may have been sent. */
  isConnected(): boolean;
  /** Ends the request with a timeout. */
  expire(seconds: number): void;
}

/**
 * Opens a request with node:http or node:https and returns both of its streams. Not `fetch`, which normalizes the path
 * and takes longer to load than everything else in `ori`. The path is sent byte for byte as given; redirects are
 * returned as answers.
 */
export async function openRequest(
  origin: URL,
  options: Pick<RequestOptions, 'method' | 'path' | 'headers'>,
  limits: RequestLimits,
  peer: Peer,
): Promise<OpenedRequest> {
  requireProxy(origin);
  const isTls = origin.protocol === 'https:';
  const { request: open } = isTls ? await import('node:https') : await import('node:http');
  const request = open({
    hostname: origin.hostname.replace(/^\[|\]$/g, ''),
    port: origin.port,
    // The default agent uses the proxies of the environment. Plain http bypasses them, because it must not leave this
    // machine.
    ...(isTls ? {} : { agent: false }),
    maxHeaderSize: 64 * 1024,
    ...(origin.hostname === 'localhost' && { lookup: lookUpLoopback }),
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
  let isConnected = false;
  const connected = () => {
    isConnected = true;
    clearTimeout(connecting);
  };
  request.once('socket', (socket) => {
    // Through a proxy, the socket arrives with its handshake done.
    if (isTls && !socket.connecting) connected();
    else socket.once(isTls ? 'secureConnect' : 'connect', connected);
  });
  request.once('close', () => clearTimeout(connecting));
  request.setTimeout(limits.silenceSeconds * 1000, () => expire(limits.silenceSeconds));
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve);
    request.on('error', (error) => reject(cause() ?? toCliError(error, peer, origin)));
    // Of an answer that switches protocols, Node tells nothing else.
    request.once('close', () =>
      reject(new CliError('unreachable', { ...peer, why: 'it closed the connection' })),
    );
  });
  answer.catch(() => {});
  return { request, answer, cause, isConnected: () => isConnected, expire };
}

/** RFC 6761, section 6.3: `localhost` is this machine, at both addresses, whatever its hosts file lists. */
const lookUpLoopback: LookupFunction = (_hostname, _options, callback) =>
  callback(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ]);

function toCliError(error: unknown, peer: Peer, origin: URL): CliError {
  if (error instanceof CliError) return error;
  const why = explainSystemError(error) + proxyOf(error, origin);
  return new CliError('unreachable', { ...peer, why }, { cause: error });
}

/** The address that could not be connected to, if it is not that of the peer: then it is a proxy of the environment. */
function proxyOf(error: unknown, origin: URL): string {
  const failed: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (!(failed instanceof Error && 'address' in failed && 'port' in failed)) return '';
  const isProxy = origin.protocol === 'https:' && String(failed.port) !== (origin.port || '443');
  return isProxy ? ` (at the proxy of HTTPS_PROXY, ${failed.address}:${failed.port})` : '';
}
