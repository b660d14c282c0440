import type { Presentation } from '@ori/http/presentation';
import { DPOP_ALGORITHMS } from './algorithms.ts';
import { CONTENT_CLAIM } from './content.ts';
import type { DpopErrorCode } from './dpop-error.ts';

/** The challenge without an error: RFC 9449, section 7.1. */
export const DPOP_CHALLENGE = `DPoP algs="${DPOP_ALGORITHMS.join(' ')}"`;

const challenge = (error: string) => ({
  'WWW-Authenticate': DPOP_CHALLENGE.replace(' ', ` error="${error}", `),
});

/** The answer for each code: RFC 9449, sections 7.1 and 9. A replay has the same error as any other invalid proof. */
export const DPOP_REFUSALS = {
  dpop_nonce_required: {
    status: 401,
    message: 'The DPoP proof must carry the nonce of the DPoP-Nonce header.',
    headers: challenge('use_dpop_nonce'),
  },
  dpop_proof_refused: {
    status: 401,
    message: 'The DPoP proof is missing, malformed, or for another request.',
    headers: challenge('invalid_dpop_proof'),
  },
  dpop_proof_replayed: {
    status: 401,
    message: 'The DPoP proof was used before.',
    headers: challenge('invalid_dpop_proof'),
  },
  dpop_content_refused: {
    status: 401,
    message: `The DPoP proof must have the claim ${CONTENT_CLAIM}: the SHA-256 of the request's exact content, in base64url.`,
    headers: challenge('invalid_dpop_proof'),
  },
  dpop_binding_refused: {
    status: 401,
    message: 'The access token is not bound to the key of this request.',
    headers: challenge('invalid_token'),
  },
  dpop_required: {
    status: 403,
    message: 'Only sessions bound to a key are accepted here; sign in again with `ori login --oidc`.',
    reason: 'dpop_required',
    headers: challenge('invalid_token'),
  },
} satisfies Record<DpopErrorCode, Presentation>;
