import { IdentityError } from '@ori/identity';
import { DeadlineError, presentDeadline } from '@ori/service-kit/deadline';
import type { Presentation } from '@ori/service-kit/envelope';
import { rateLimitHeaders } from '@ori/service-kit/rate-limit-headers';
import { DependencyError } from '../adapters/dependency-error.ts';
import { SIGNING_SCOPE } from '../core/require-scope.ts';
import { SigningError, type SigningErrorCode } from '../core/signing-error.ts';

/** What the caller is told: the interface's signing error table. */
export const PRESENTATIONS = {
  regional_host_refused: {
    status: 403,
    message: 'Requests addressed to a regional hostname are refused for intern operations.',
    reason: 'regional_host_refused',
  },
  bearer_refused: {
    status: 401,
    message: 'The bearer credential is missing, unknown or not accepted here.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  personal_identity_required: {
    status: 403,
    message: 'An API key names no person; sign in with `ori login --oidc`.',
    reason: 'personal_identity_required',
  },
  insufficient_scope: {
    status: 403,
    message: `The grant does not carry the scope ${SIGNING_SCOPE}.`,
    reason: 'insufficient_scope',
    headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${SIGNING_SCOPE}"` },
  },
  unsupported_media_type: {
    status: 415,
    message: 'The request body must be application/json without a content encoding.',
    reason: 'unsupported_media_type',
  },
  payload_too_large: {
    status: 413,
    message: 'The request body is larger than 1048576 bytes.',
    reason: 'payload_too_large',
  },
  invalid_body: {
    status: 400,
    message: 'The request body is not a valid signing request.',
    reason: 'invalid_body',
  },
  not_found: { status: 404, message: 'Not found.', reason: 'not_found' },
  access_revoked: { status: 403, message: 'Access to this intern was revoked.', reason: 'access_revoked' },
  configuration_error: {
    status: 500,
    message: 'The service cannot sign for this intern or subject as it is configured.',
    reason: 'configuration_error',
  },
  rate_limited: { status: 429, message: 'Too many turns.', reason: 'rate_limited', retryable: true },
  internal_error: {
    status: 500,
    message: 'The request could not be completed. It may be repeated.',
    reason: 'internal_error',
    retryable: true,
  },
} satisfies Record<SigningErrorCode, Presentation>;

/** Reasons a signing request is refused for, as the metrics count them. */
export type RefusalReason = SigningErrorCode | 'timeout' | 'client_gone';

export const REFUSAL_REASONS: readonly RefusalReason[] = [
  ...(Object.keys(PRESENTATIONS) as SigningErrorCode[]),
  'timeout',
  'client_gone',
];

export const NOT_FOUND: Presentation = PRESENTATIONS.not_found;

/** The presentation of a failure; undefined for what is nobody's refusal: the error handler's 500 `internal_error`. */
export function toPresentation(error: unknown): Presentation | undefined {
  if (error instanceof DeadlineError) return presentDeadline(error.deadlineMs);
  if (error instanceof DependencyError) return PRESENTATIONS.internal_error;
  if (error instanceof IdentityError && error.code === 'bearer_refused') return PRESENTATIONS.bearer_refused;
  if (!(error instanceof SigningError)) return undefined;
  const presentation: Presentation = PRESENTATIONS[error.code];
  if (error.turns === undefined) return presentation;
  return { ...presentation, headers: { ...presentation.headers, ...rateLimitHeaders(error.turns) } };
}
