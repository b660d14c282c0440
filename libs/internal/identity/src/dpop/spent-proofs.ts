import { NONCE_SLOT_SECONDS } from './nonces.ts';

/**
 * How far the store's clock may be from the middle of a nonce's period, in seconds: a server takes the nonce within one
 * and a half periods by its own clock, and the two clocks may differ by one. A server whose clock goes back takes a
 * nonce again whose proof the store has forgotten.
 */
export const STORE_APART_SECONDS = 2.5 * NONCE_SLOT_SECONDS;

/** How long a used proof is stored, in seconds: longer than the five periods in which its store takes it. */
export const PROOF_KEPT_SECONDS = 6 * NONCE_SLOT_SECONDS;

/** A verified proof, as a store remembers it. */
export interface SpendableProof {
  readonly id: string;
  /** The store's epoch when the proof's nonce was issued. */
  readonly epoch: string;
  /**
   * Unix seconds: between these, by the store's clock, it has not forgotten the proof, unless that clock was far ahead
   * meanwhile.
   */
  readonly from: number;
  readonly until: number;
}

/**
 * `forgotten`: the store may have lost proofs since the nonce of this one was issued, or is not at its time, so it may
 * have been used.
 */
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
