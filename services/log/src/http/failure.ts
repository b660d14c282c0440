import type { IncomingMessage, ServerResponse } from 'node:http';
import { BodyError } from '@ori/http/body';
import { DeadlineError, presentDeadline } from '@ori/http/deadline';
import { type Presentation, sendEnvelope } from '@ori/http/envelope';
import { findExchange } from '@ori/http/exchange';

const TOO_LARGE: Presentation = { status: 413, message: 'The body is too large.' };
const BAD_BODY: Presentation = { status: 400, message: 'The body cannot be read.' };
const FAILED: Presentation = {
  status: 500,
  message: 'The request could not be completed. It may be repeated.',
};

/** Answers a request whose handler failed; the failure itself is for the request's log line. */
export function presentFailure(req: IncomingMessage, res: ServerResponse, error: unknown): void {
  const exchange = findExchange(req);
  if (exchange !== undefined) exchange.error ??= error;
  if (res.headersSent) res.destroy();
  else sendEnvelope(res, present(error));
}

function present(error: unknown): Presentation {
  if (error instanceof DeadlineError) return presentDeadline(error.deadlineMs);
  if (!(error instanceof BodyError)) return FAILED;
  return error.code === 'body_too_large' ? TOO_LARGE : BAD_BODY;
}
