import type { Presentation } from '@ori/http/presentation';
import { DPOP_CHALLENGE, DPOP_REFUSALS } from '@ori/identity/dpop/refusals';

/** The scope that a grant must have for signing. */
export const SIGNING_SCOPE = 'vault:read';

const insufficient = `error="insufficient_scope", scope="${SIGNING_SCOPE}"`;
const INSUFFICIENT = `Bearer ${insufficient}, DPoP ${insufficient}`;

const TOO_OLD = 'error="insufficient_user_authentication", max_age="0"';

/** The responses of the interface's signing error table. */
export const PRESENTATIONS = {
  regional_host_refused: {
    status: 403,
    message: 'Requests addressed to a regional hostname are refused for intern operations.',
    reason: 'regional_host_refused',
  },
  bearer_refused: {
    status: 401,
    message: 'The bearer credential is missing, unknown or not accepted here.',
    headers: { 'WWW-Authenticate': `Bearer, ${DPOP_CHALLENGE}` },
  },
  certificate_bound: {
    status: 401,
    message: 'The access token is bound to a TLS client certificate, which is not supported here.',
    headers: { 'WWW-Authenticate': `Bearer error="invalid_token", ${DPOP_CHALLENGE}` },
  },
  insufficient_user_authentication: {
    status: 401,
    message: 'The sessions of this person were ended, and this one began before that. Sign in again.',
    // RFC 9470: what a client asks the issuer for, so that it does not answer with an earlier sign-in.
    headers: { 'WWW-Authenticate': `Bearer ${TOO_OLD}, DPoP ${TOO_OLD}` },
  },
  ...DPOP_REFUSALS,
  personal_identity_required: {
    status: 403,
    message: 'An API key names no person; sign in with `ori login --oidc`.',
    reason: 'personal_identity_required',
  },
  insufficient_scope: {
    status: 403,
    message: `The grant does not carry the scope ${SIGNING_SCOPE}.`,
    reason: 'insufficient_scope',
    headers: { 'WWW-Authenticate': INSUFFICIENT },
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
} satisfies Record<string, Presentation>;

/** Why a signing request got no proof: one code per reason that callers or operators must distinguish. */
export type SigningErrorCode = keyof typeof PRESENTATIONS;
