import { OriError } from '@ori/proof/errors';

/**
 * - `dpop_nonce_required`: the proof has no current nonce of this server. The caller retries with the one in the answer.
 * - `dpop_proof_refused`: there is no proof or more than one, or it is malformed or made for another request.
 * - `dpop_proof_replayed`: the proof was used before.
 * - `dpop_content_refused`: the proof does not cover the content of the request.
 * - `dpop_binding_refused`: token, scheme and key do not match.
 * - `dpop_required`: the session is not bound to a key, and this service accepts only bound ones.
 */
export type DpopErrorCode =
  | 'dpop_nonce_required'
  | 'dpop_proof_refused'
  | 'dpop_proof_replayed'
  | 'dpop_content_refused'
  | 'dpop_binding_refused'
  | 'dpop_required';

/** The caller did not prove possession of its key. The message is for the log and contains nothing from token or proof. */
export class DpopError extends OriError<DpopErrorCode> {
  override readonly name = 'DpopError';
}
