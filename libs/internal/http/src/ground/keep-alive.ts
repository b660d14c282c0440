import type { IncomingMessage, ServerResponse } from 'node:http';
import { findExchange } from './exchange.ts';

/** Reading and discarding this many bytes costs less than a new connection. */
const DISCARDED_BYTES_MAX = 16 * 1024;

export interface KeepAliveOptions {
  readonly connection: { bodyDiscarded(): void } | undefined;
  /** Whether a gateway sent the request, and had buffered its body first. */
  readonly isFromGateway: boolean;
  /** Whether each connection closes after its next answer. */
  readonly isClosing: () => boolean;
}

const GOVERNOR = Symbol('governor');

/** An object shared by all, because V8 keeps an object with a closure as a property until the next full collection. */
interface Governor {
  readonly decide: () => void;
}

type Governed = IncomingMessage & { [GOVERNOR]?: Governor };

/**
 * An answer closes the connection if the body of its request was not read. A gateway's connection is kept if the body is
 * short and reading it has not begun: a refusal must not cost the gateway a connection.
 */
export function governKeepAlive(
  req: IncomingMessage,
  res: ServerResponse,
  { connection, isFromGateway, isClosing }: KeepAliveOptions,
): void {
  const isWanted = res.shouldKeepAlive;
  const isShort = Number(req.headers['content-length']) <= DISCARDED_BYTES_MAX;
  res.shouldKeepAlive = isWanted && !isClosing() && !hasUnreadBody(req);
  const decide = () => {
    const mayKeep = isWanted && !isClosing();
    const isUnread = hasUnreadBody(req);
    const isUntouched = req.readableFlowing === null && req.headers.expect === undefined;
    const isDiscarded = mayKeep && isUnread && isFromGateway && isShort && isUntouched;
    res.shouldKeepAlive = mayKeep && (!isUnread || isDiscarded);
    if (isDiscarded) req.once('end', () => connection?.bodyDiscarded()).resume();
  };
  (req as Governed)[GOVERNOR] = { decide };
}

/**
 * Decides again, immediately before the head of an answer is sent, or when the body has been read.
 *
 * @returns false for a request that {@link governKeepAlive} was not called for
 */
export function decideKeepAlive(req: IncomingMessage): boolean {
  const governor = (req as Governed)[GOVERNOR];
  governor?.decide();
  return governor !== undefined;
}

/** Whether the request announced a body that was not read completely. */
export function hasUnreadBody(req: IncomingMessage): boolean {
  const { 'transfer-encoding': coding, 'content-length': length = 0 } = req.headers;
  if (req.complete || findExchange(req)?.isBodyRead) return false;
  return coding !== undefined || Number(length) > 0;
}
