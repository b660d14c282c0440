import { OriError } from '@ori/proof/errors';

/**
 * - `invalid_kek_ring`: the text is not a valid ring; `problems` names the places without quoting them.
 * - `unknown_kek`: sealed under a key that this ring does not have.
 * - `context_mismatch`: sealed for another row, column, intern, issuer or base address.
 * - `undecryptable`: not a sealed text, or altered.
 */
export type SealingErrorCode = 'invalid_kek_ring' | 'unknown_kek' | 'context_mismatch' | 'undecryptable';

/** Contains neither key material nor plaintext, in any property or `cause`. */
export class SealingError extends OriError<SealingErrorCode> {
  override readonly name = 'SealingError';
  readonly problems: readonly string[];

  constructor(code: SealingErrorCode, message: string, problems: readonly string[] = []) {
    super(code, message);
    this.problems = problems;
  }
}
