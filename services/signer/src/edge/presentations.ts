import { PRESENTATIONS, type SigningErrorCode } from '@ori/api/refusals';
import { BodyError } from '@ori/http/body';
import { DeadlineError, presentDeadline } from '@ori/http/deadline';
import type { Presentation } from '@ori/http/presentation';
import { DpopError } from '@ori/identity/dpop/error';
import { IdentityError, type IdentityErrorCode } from '@ori/identity/identity-error';
import { BusyError } from '@ori/runtime/busy-error';
import { rateLimitHeaders } from '@ori/turns/rate-limit-headers';
import { DependencyError } from '../core/dependency-error.ts';
import { SigningError } from '../core/stages/signing-error.ts';

/** Reasons a signing request is refused for, as the metrics count them. */
export type RefusalReason = SigningErrorCode | 'timeout' | 'client_gone';

export const REFUSAL_REASONS: readonly RefusalReason[] = [
  ...(Object.keys(PRESENTATIONS) as SigningErrorCode[]),
  'timeout',
  'client_gone',
];

export const NOT_FOUND: Presentation = PRESENTATIONS.not_found;

/** One client or account has too many requests in progress. Unlike a lack of turns, this passes within moments. */
export const TOO_MANY_AT_ONCE: Presentation = {
  ...PRESENTATIONS.rate_limited,
  headers: { 'Retry-After': '1' },
};

/** Too many requests in total are in progress, or a dependency does not keep up. */
export const OVERLOADED: Presentation = { ...PRESENTATIONS.internal_error, headers: { 'Retry-After': '1' } };

const codeOf = (code: Exclude<IdentityErrorCode, 'issuer_unavailable'>): SigningErrorCode =>
  code === 'issuer_misconfigured' ? 'configuration_error' : code;

/** The presentation of a failure; undefined for any other error: the error handler's 500 `internal_error`. */
export function toPresentation(error: unknown): Presentation | undefined {
  if (error instanceof DeadlineError) return presentDeadline(error.deadlineMs);
  if (error instanceof BusyError) return error.budget === 'account' ? TOO_MANY_AT_ONCE : OVERLOADED;
  if (error instanceof DependencyError) return OVERLOADED;
  if (error instanceof IdentityError && error.code !== 'issuer_unavailable')
    return PRESENTATIONS[codeOf(error.code)];
  if (error instanceof DpopError) return PRESENTATIONS[error.code];
  if (!(error instanceof SigningError)) return undefined;
  const presentation: Presentation = PRESENTATIONS[error.code];
  if (error.turns === undefined) return presentation;
  return { ...presentation, headers: { ...presentation.headers, ...rateLimitHeaders(error.turns) } };
}

/** The reason that metrics and logs give for a failure. */
export function reasonOf(error: unknown): RefusalReason {
  if (error instanceof SigningError) return error.code;
  if (error instanceof IdentityError && error.code !== 'issuer_unavailable') return codeOf(error.code);
  if (error instanceof DpopError) return error.code;
  if (error instanceof DeadlineError) return 'timeout';
  if (error instanceof BodyError) return 'client_gone';
  if (error instanceof BusyError && error.budget === 'account') return 'rate_limited';
  return 'internal_error';
}
