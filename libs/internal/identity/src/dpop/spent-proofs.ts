import { NONCE_SLOT_SECONDS } from './nonces.ts';

/**
 * How long a used proof is stored, in seconds: longer than the three periods for which any server accepts it; the rest
 * allows for clocks that differ.
 */
export const PROOF_KEPT_SECONDS = 4 * NONCE_SLOT_SECONDS;

/** A verified proof, as a store remembers it. */
export interface SpendableProof {
  readonly id: string;
  /** The store's epoch when the proof's nonce was issued. */
  readonly epoch: string;
}

/** `forgotten`: the store may have lost proofs since the nonce of this one was issued, so it may have been used. */
export type Spending = 'spent' | 'replayed' | 'forgotten';

/** Stores which proofs were used. */
export interface SpentProofs {
  /** Changes whenever the store may have lost a proof. Nonces carry it. Undefined until it is known. */
  epoch(): string | undefined;
  /** Asks the store for its epoch. */
  learn(): Promise<void>;
  /** @throws if that cannot be determined; the request must then be refused */
  spend(proof: SpendableProof): Spending | Promise<Spending>;
}
