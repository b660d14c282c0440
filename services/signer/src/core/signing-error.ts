import type { TurnVerdict } from '@ori/service-kit/turns';

/** Why a signing request got no proof. One code per outcome that a caller, or we ourselves, must tell apart. */
export type SigningErrorCode =
  | 'regional_host_refused'
  | 'bearer_refused'
  | 'personal_identity_required'
  | 'insufficient_scope'
  | 'unsupported_media_type'
  | 'payload_too_large'
  | 'invalid_body'
  | 'not_found'
  | 'access_revoked'
  | 'configuration_error'
  | 'rate_limited'
  | 'internal_error';

export interface SigningErrorOptions extends ErrorOptions {
  /** The limiter's verdict, with `rate_limited`. */
  readonly turns?: TurnVerdict;
}

/** A refusal. The message is for the log; what the caller reads is in `http/presentations.ts`. */
export class SigningError extends Error {
  override readonly name = 'SigningError';
  readonly code: SigningErrorCode;
  readonly turns?: TurnVerdict;

  constructor(code: SigningErrorCode, message: string, options: SigningErrorOptions = {}) {
    super(message, options);
    this.code = code;
    if (options.turns !== undefined) this.turns = options.turns;
  }
}
