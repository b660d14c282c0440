import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from '../refusal.ts';
import type { RequestHead } from '../request.ts';
import type { Arrival, Judgement, Proven } from './guard.ts';

/** A request of node:http, of Express, or of anything built on them. */
export interface NodeRequest extends IncomingMessage {
  /** Set by Express: the target before a router took its mount path off. */
  originalUrl?: string;
  /** Set by body parsers: a request that has one is refused. */
  body?: unknown;
}

export type NodeProven = Proven<Buffer>;

/** `request.rawHeaders` and the target as received. */
export function headOf({ method, originalUrl, url, rawHeaders }: NodeRequest): RequestHead {
  return { method, target: originalUrl ?? url, rawHeaders };
}

export function arrivalOf(request: NodeRequest): Arrival {
  return {
    head: headOf(request),
    body: isEmpty(request) ? [] : (request as AsyncIterable<Buffer>),
    announcedBytes: Number(request.headers['content-length'] ?? 0),
    misuse: misuseOf(request),
  };
}

function misuseOf(request: NodeRequest): string | undefined {
  if (judged.has(request)) return 'it is mounted twice on this route: this request was already verified';
  judged.add(request);
  const wasRead = !isEmpty(request) && (request.readableDidRead || request.readableEnded);
  return wasRead || request.body !== undefined
    ? 'the body was already read; mount it before any body parser'
    : undefined;
}

/** A request without a body, which a server made with `optimizeEmptyRequests` has ended already. */
function isEmpty({ headers, readableEnded }: NodeRequest): boolean {
  const isFramed = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return readableEnded && !isFramed;
}

const judged = new WeakSet<NodeRequest>();

/** The body as a Buffer over the same memory. */
export function toNodeProven({ proof, body }: Proven): NodeProven {
  return { proof, body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) };
}

/** Whether to close the connection instead of waiting for an unread body: unless little of it can be left. */
export function closesConnection(request: NodeRequest, bodyBytesMax: number, closes: boolean): boolean {
  const isBounded = Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= bodyBytesMax;
  return !(request.complete || (isBounded && !closes));
}

const OF_BODY = ['content-encoding', 'content-range', 'trailer', 'transfer-encoding'];

/** Writes the answer, or closes the connection of a client that disconnected. */
export function answerNode(
  { answer, isAborted, closes }: Extract<Judgement, { answer: Answer }>,
  request: NodeRequest,
  response: ServerResponse,
  bodyBytesMax: number,
): void {
  if (isAborted || response.headersSent) {
    if (!response.writableEnded) response.destroy();
    return;
  }
  // What a handler set before it failed was for another body.
  for (const name of OF_BODY) if (response.hasHeader(name)) response.removeHeader(name);
  Reflect.deleteProperty(response, 'statusMessage');
  if (closesConnection(request, bodyBytesMax, closes)) response.setHeader('connection', 'close');
  response.statusCode = answer.status;
  // Not by `writeHead`: middleware in front may set headers when the response ends.
  for (const name in answer.headers) response.setHeader(name, answer.headers[name] as string);
  // Set, because Node marks the end of a body whose length was removed by closing: a client could not tell that it was cut.
  const bytes = Buffer.byteLength(answer.body);
  if (bytes > 0 || response.hasHeader('content-length')) response.setHeader('content-length', bytes);
  response.end(answer.body);
}
