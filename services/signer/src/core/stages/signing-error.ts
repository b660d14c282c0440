import type { SigningErrorCode } from '@ori/api/refusals';
import { OriError } from '@ori/proof/errors';
import type { TurnVerdict } from '@ori/turns/turn';

export interface SigningErrorOptions extends ErrorOptions {
  /** The limiter's verdict; present with `rate_limited`. */
  readonly turns?: TurnVerdict;
}

/** A refusal. The message is for the log; what the caller reads is in `@ori/api/refusals`. */
export class SigningError extends OriError<SigningErrorCode> {
  override readonly name = 'SigningError';
  readonly turns?: TurnVerdict;

  constructor(code: SigningErrorCode, message: string, options: SigningErrorOptions = {}) {
    super(code, message, options);
    if (options.turns !== undefined) this.turns = options.turns;
  }
}
