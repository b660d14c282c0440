import type { ServerResponse } from 'node:http';
import { decideKeepAlive, hasUnreadBody } from './keep-alive.ts';
import type { Presentation } from './presentation.ts';

/** The error envelope: `error.code` is the status; without a reason, `metadata` is absent, never null. */
export function renderEnvelope(presentation: Presentation): string {
  const { status, message, reason, retryable = false } = presentation;
  const metadata = reason === undefined ? {} : { metadata: { reason, retryable } };
  return JSON.stringify({ error: { code: status, message, ...metadata } });
}

/**
 * Answers with the error envelope, as `application/json`. Does nothing if an answer has already begun. If the body of
 * the request was not read to its end, the answer closes the connection and the rest of the body is not read.
 */
export function sendEnvelope(res: ServerResponse, presentation: Presentation): void {
  if (res.headersSent || res.writableEnded) return;
  for (const name of ['etag', 'cache-control', 'content-encoding']) res.removeHeader(name);
  const body = Buffer.from(renderEnvelope(presentation));
  if (!decideKeepAlive(res.req) && hasUnreadBody(res.req)) res.shouldKeepAlive = false;
  res.statusCode = presentation.status;
  for (const [name, value] of Object.entries(presentation.headers ?? {})) res.setHeader(name, value);
  res.setHeader('content-type', 'application/json');
  res.setHeader('cache-control', 'no-store');
  res.setHeader('content-length', body.length);
  res.end(body);
}
