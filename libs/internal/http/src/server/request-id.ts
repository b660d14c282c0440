import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The gateway's request id, if the gateway is trusted and sent a usable one; otherwise a new one. */
export function requestIdOf(req: IncomingMessage, trustGateway: boolean): string {
  const given = req.headers['x-request-id'];
  return trustGateway && typeof given === 'string' && ACCEPTED.test(given) ? given : randomUUID();
}
