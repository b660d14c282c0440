import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** The sender of a request, and the host it was sent to. */
export interface Client {
  /** An IP address; empty if the connection is already closed. */
  readonly address: string;
  /** The host of the request, with or without a port; undefined if none was sent. */
  readonly authority: string | undefined;
}

const HOST = /^[A-Za-z0-9.:[\]-]{1,255}$/;

/**
 * Takes `X-Forwarded-For` and `X-Forwarded-Host` if the gateway is trusted and the header has exactly one usable value;
 * otherwise the address of the connection and `Host`. A gateway sets both headers and never appends, so several values
 * are not its own.
 */
export function clientOf(req: Pick<IncomingMessage, 'headers' | 'socket'>, trustGateway: boolean): Client {
  const address = (req.socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/, '');
  const authority = req.headers.host;
  if (!trustGateway) return { address, authority };
  const { 'x-forwarded-for': from, 'x-forwarded-host': to } = req.headers;
  return {
    address: typeof from === 'string' && isIP(from) !== 0 ? from : address,
    authority: typeof to === 'string' && HOST.test(to) ? to : authority,
  };
}

const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/;

/** The gateway's request id, if the gateway is trusted and sent a usable one; otherwise a new one. */
export function requestIdOf(req: IncomingMessage, trustGateway: boolean): string {
  const given = req.headers['x-request-id'];
  return trustGateway && typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}
