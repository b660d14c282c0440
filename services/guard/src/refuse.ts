import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyError } from '@ori/http/body';
import { DeadlineError } from '@ori/http/deadline';
import { exchangeOf } from '@ori/http/exchange';
import { BusyError } from '@ori/runtime/busy-error';
import { toRefusal } from '@ori/verifier';
import { SpoolError } from './spool.ts';

export interface Answer {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

const FAILED: Answer = {
  status: 500,
  code: 'internal_error',
  message: 'The request could not be verified, and was not forwarded.',
};
const BUSY: Answer = {
  status: 503,
  code: 'busy',
  message: 'Too many calls are in progress. The proof is not spent. Repeat the call later.',
};
const NOT_KEPT: Answer = {
  status: 503,
  code: 'body_not_kept',
  message: 'The guard could not store the body. Repeat the call later.',
};
const INCOMPLETE: Answer = { status: 400, code: 'body_incomplete', message: 'The body is incomplete.' };

/** Answers in the form of the verifier's refusals. Does nothing if an answer has begun. */
export function answer(res: ServerResponse, { status, code, message }: Answer): void {
  const isFailure = status === 502 || status === 504;
  send(res, {
    status,
    // The failure of a daemon is the answer to its call, and may be kept. No cache may: it answers a POST.
    headers: { 'content-type': 'application/json', ...(isFailure ? {} : { 'cache-control': 'no-store' }) },
    body: JSON.stringify({ error: { code, message } }),
  });
}

/** Answers a request that was not forwarded. */
export function refuse(req: IncomingMessage, res: ServerResponse, error: unknown): void {
  const exchange = exchangeOf(req);
  const refusal = toRefusal(error);
  if (refusal !== undefined) {
    exchange.facts['code'] = (error as { code: string }).code;
    if (refusal.status === 503) exchange.error = error;
    send(res, refusal);
    return;
  }
  exchange.error ??= error;
  // The server has already answered, at the deadline.
  if (error instanceof DeadlineError) return;
  if (error instanceof BusyError) answer(res, BUSY);
  else if (error instanceof SpoolError) answer(res, NOT_KEPT);
  else answer(res, error instanceof BodyError ? INCOMPLETE : FAILED);
}

export function send(
  res: ServerResponse,
  {
    status,
    headers,
    body,
  }: { status: number; headers: Readonly<Record<string, string>>; body: string | Uint8Array },
): void {
  if (res.headersSent) return;
  res.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}
