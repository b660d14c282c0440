import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { presentDeadline } from '../ground/deadline.ts';
import { renderEnvelope } from '../ground/envelope.ts';
import type { Presentation } from '../ground/presentation.ts';
import { onlyValueOf } from '../ground/raw-headers.ts';
import { parseTarget } from '../ground/target.ts';

/** The answer to bytes that are not a valid request, by the parser's error code. */
export function presentProtocolError(
  code: string | undefined,
  deadlineMs: number,
  inBody: boolean,
): Presentation {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return presentDeadline(deadlineMs);
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, message: 'The request headers are too large.' };
    default:
      return inBody
        ? {
            status: 400,
            message: 'The request body is not valid HTTP.',
            reason: 'invalid_body',
            retryable: false,
          }
        : { status: 400, message: 'The request is not valid HTTP.' };
  }
}

const NOT_ORIGIN_FORM: Presentation = {
  status: 400,
  message: 'The request target must be a path that begins with "/".',
};

const HOST_NOT_SINGLE: Presentation = {
  status: 400,
  message: 'The request must have exactly one Host header.',
};

/** Node decodes only the chunked coding, so a body with another coding would be read undecoded. */
const CODING_NOT_CHUNKED: Presentation = {
  status: 400,
  message: 'The only supported transfer coding is "chunked".',
};

/** Why a request is refused before the application sees it; `undefined` if it is not. */
export function judgeHead(req: IncomingMessage): Presentation | undefined {
  if (onlyValueOf(req, 'host') === undefined) return HOST_NOT_SINGLE;
  const coding = req.headers['transfer-encoding'];
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return CODING_NOT_CHUNKED;
  return parseTarget(req.url) === undefined ? NOT_ORIGIN_FORM : undefined;
}

export const EXPECTATION_UNKNOWN: Presentation = {
  status: 417,
  message: 'The only supported expectation is "100-continue".',
};

export const CONNECT_REFUSED: Presentation = { status: 404, message: 'This server is not a proxy.' };

/** An error envelope as the bytes of a whole answer, for a connection without a request to answer. */
export function renderRawAnswer(presentation: Presentation, requestId: string): string {
  const body = renderEnvelope(presentation);
  return [
    `HTTP/1.1 ${presentation.status} ${STATUS_CODES[presentation.status] ?? ''}`,
    `Date: ${new Date().toUTCString()}`,
    'Content-Type: application/json',
    'Cache-Control: no-store',
    `X-Request-Id: ${requestId}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
