import { OriError } from '@ori/proof/errors';

/** A key in a KMS or HSM that wraps the KEKs of a ring: 32 bytes each. It never leaves the KMS or HSM. */
export interface KeyWrapper {
  /** @throws KmsError */
  wrap(kek: Uint8Array): Promise<string>;
  /** The caller must wipe the bytes. @throws KmsError */
  unwrap(wrapped: string): Promise<Buffer>;
}

/**
 * - `unavailable`: no answer in time, or 429 or 5xx
 * - `refused`: any status but 200 and those, for example for a wrong token, key or ciphertext
 * - `unusable`: a malformed answer, or one of the wrong size
 */
export type KmsErrorCode = 'unavailable' | 'refused' | 'unusable';

/** Contains neither key material nor any part of the answer. */
export class KmsError extends OriError<KmsErrorCode> {
  override readonly name = 'KmsError';
}
