import type { Version } from '@ori/proof/wire';

/** The caller of an accepted request to this intern. */
export interface VerifiedProof {
  /** The OAuth subject that the signer verified. */
  readonly user: string;
  readonly internId: string;
  readonly version: Version;
  readonly issuedAt: Date;
  /** With version 2. A version 1 proof covers neither method nor path. */
  readonly method?: 'POST';
  readonly path?: string;
  /** With version 2. */
  readonly nonce?: string;
}
