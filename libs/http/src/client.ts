import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';

/** Who sent a request, and to which host. */
export interface Client {
  /** An IP address; empty when the connection is gone already. */
  readonly address: string;
  /** The host it was addressed to, with or without a port; undefined where none was sent. */
  readonly authority: string | undefined;
}

const HOST = /^[A-Za-z0-9.:[\]-]{1,255}$/;

/**
 * What the gateway says in `X-Forwarded-For` and `X-Forwarded-Host` where the gateway is trusted and said one usable thing; else
 * what the connection and `Host` say. A gateway sets both headers and never appends: several values were not its own.
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
