/**
 * - `dpop_nonce_required`: the proof has no nonce of ours that is still good. The caller repeats with the one it is sent.
 * - `dpop_proof_refused`: there is no proof, more than one, or it is not one for this request.
 * - `dpop_proof_replayed`: the proof was used before.
 * - `dpop_binding_refused`: token, scheme and key do not belong together.
 * - `dpop_required`: the session is bound to no key, and this service takes only bound ones.
 */
export type DpopErrorCode =
  | 'dpop_nonce_required'
  | 'dpop_proof_refused'
  | 'dpop_proof_replayed'
  | 'dpop_binding_refused'
  | 'dpop_required';

/** The caller did not prove possession of its key. The message is for the log and holds nothing of token or proof. */
export class DpopError extends Error {
  override readonly name = 'DpopError';
  readonly code: DpopErrorCode;

  constructor(code: DpopErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
