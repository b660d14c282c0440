/**
 * - `invalid_kek_ring`: the ring's text is not one; `complaints` says where, never what.
 * - `unknown_kek`: sealed under a key that this ring does not hold.
 * - `context_mismatch`: sealed for another row, column, intern, issuer or base address.
 * - `undecryptable`: not a sealed text of ours, or changed since.
 */
export type SealingErrorCode = 'invalid_kek_ring' | 'unknown_kek' | 'context_mismatch' | 'undecryptable';

/** Holds neither key material nor plaintext, in no property and no `cause`. */
export class SealingError extends Error {
  readonly code: SealingErrorCode;
  readonly complaints: readonly string[];

  constructor(code: SealingErrorCode, message: string, complaints: readonly string[] = []) {
    super(message);
    this.name = 'SealingError';
    this.code = code;
    this.complaints = complaints;
  }
}
