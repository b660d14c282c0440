/** The verifier's requirements on its replay store. */
export interface ReplayPolicy {
  readonly internId: string;
  readonly maxAgeSeconds: number;
  readonly clockToleranceSeconds: number;
  readonly acceptV1: boolean;
}

/** A proof with a valid signature, to be spent. */
export interface Spend {
  readonly policy: ReplayPolicy;
  /** Unix seconds, as signed. */
  readonly timestamp: number;
  /** The verifier's clock, Unix milliseconds. */
  readonly nowMs: number;
  /** Absent for a version 1 proof. */
  readonly nonce?: string;
  /** The bytes that were signed. */
  readonly signingInput: Uint8Array;
  /** SHA-256 of the version 1 signing input in lower-case hex. A version 2 proof has one too. */
  v1Id(): string;
}

/**
 * Remembers spent proofs. `spend` is the last step of verification. It resolves to 'spent' for one caller among all processes that
 * present the same proof; for the others, and whenever the store is not certain, it throws. Any other result refuses the proof (the
 * type is `string` because TypeScript widens what an `async` method of a plain object returns).
 * `requireReplayStore` of '@ori/verifier/testing' tests a store of your own.
 */
export interface ReplayStore {
  /** Called once by each verifier that uses the store, before its first spend. Throws TypeError for a policy that it cannot enforce. */
  attach?(policy: ReplayPolicy): void;
  /**
   * @throws {ProofError} `nonce_replayed`, `nonce_not_issued`, `proof_before_fence`, `proof_expired`, `proof_not_yet_valid`.
   * @throws {UnavailableError} `replay_store_unavailable`, `replay_store_unsafe`, `replay_store_full`.
   */
  spend(spend: Spend): Promise<string> | string;
}

/** A streamed body must end within this time of `begin`, and stores remember proofs that much longer. */
export const STREAM_SECONDS_MAX = 30;

/** The longest retention of any policy: 600 s of age, 60 s of tolerance. */
export const RETENTION_SECONDS_MAX = 600 + 60 + STREAM_SECONDS_MAX;

/** How long after its timestamp a spent proof is remembered. */
export function retentionSeconds(policy: ReplayPolicy): number {
  return policy.maxAgeSeconds + policy.clockToleranceSeconds + STREAM_SECONDS_MAX;
}
