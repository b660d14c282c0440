import type { ErrorRequestHandler } from 'express';
import { sendEnvelope } from '../ground/envelope.ts';
import { findExchange } from '../ground/exchange.ts';
import type { Presentation } from '../ground/presentation.ts';

const INTERNAL_ERROR: Presentation = {
  status: 500,
  message: 'The request could not be completed. It may be repeated.',
  reason: 'internal_error',
  retryable: true,
};

/** The public description of a failure; undefined if it is not known. */
export type Presenter = (error: unknown) => Presentation | undefined;

/**
 * The last Express handler: answers every failure with an error envelope and leaves the failure itself to the request's
 * log line. A failure that `toPresentation` does not know or fails on, or whose presentation cannot be sent, is a 500
 * `internal_error`. An answer that had already begun is cut off, so that the client cannot mistake it for a complete one.
 */
export function errorHandler(toPresentation: Presenter): ErrorRequestHandler {
  return (error, req, res, _next) => {
    const exchange = findExchange(req);
    if (exchange !== undefined) exchange.error ??= error;
    if (res.writableEnded) return;
    if (res.headersSent) {
      res.destroy();
      return;
    }
    try {
      sendEnvelope(res, toPresentation(error) ?? INTERNAL_ERROR);
    } catch {
      sendEnvelope(res, INTERNAL_ERROR);
    }
  };
}
