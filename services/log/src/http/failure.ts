import { BodyError } from '@ori/http/body';
import { DeadlineError, presentDeadline } from '@ori/http/deadline';
import type { Presentation } from '@ori/http/presentation';

const TOO_LARGE: Presentation = { status: 413, message: 'The body is too large.' };
const BAD_BODY: Presentation = { status: 400, message: 'The body cannot be read.' };
const FAILED: Presentation = {
  status: 500,
  message: 'The request could not be completed. It may be repeated.',
};

/** The answer to a failed request. */
export function present(error: unknown): Presentation {
  if (error instanceof DeadlineError) return presentDeadline(error.deadlineMs);
  if (!(error instanceof BodyError)) return FAILED;
  return error.code === 'body_too_large' ? TOO_LARGE : BAD_BODY;
}
