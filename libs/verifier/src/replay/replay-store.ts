/** What a verifier demands of its replay store. */
export interface ReplayPolicy {
  readonly internId: string;
  readonly maxAgeSeconds: number;
  readonly clockToleranceSeconds: number;
  readonly acceptV1: boolean;
}

/** A proof whose signature holds, about to be used up. */
export interface Spend {
  readonly policy: ReplayPolicy;
  /** Unix seconds, as signed. */
  readonly timestamp: number;
  /** The verifier's clock, Unix milliseconds. */
  readonly nowMs: number;
  /** Absent for a version 1 proof. */
  readonly nonce?: string;
  /** The bytes that the signature is over. */
  readonly signingInput: Uint8Array;
  /** SHA-256 of the version 1 signing input, which a version 2 proof has too: lower-case hex. */
  v1Id(): string;
}

/**
 * Remembers what was spent. `spend` is the last step of verification and resolves to 'spent' for one of all the callers
 * that bring the same proof, in whatever process; for the others, and whenever the store is not sure, it throws. Any other answer
 * refuses the proof. `requireReplayStore` of '@ori/verifier/testing' checks a store of your own.
 */
export interface ReplayStore {
  /** Called once by each verifier that uses the store, before its first spend. Throws TypeError for a policy it cannot keep. */
  attach?(policy: ReplayPolicy): void;
  /**
   * @throws {ProofError} `nonce_replayed`, `nonce_not_issued`, `proof_before_fence`, `proof_expired`, `proof_not_yet_valid`.
   * @throws {UnavailableError} `replay_store_unavailable`, `replay_store_unsafe`, `replay_store_full`.
   */
  spend(spend: Spend): Promise<'spent'> | 'spent';
}

/** A streamed body must end this long after `begin`; stores remember for as much longer. */
export const STREAM_SECONDS_MAX = 30;

/** The longest any policy has a spent proof remembered: 600 s of age, 60 s of tolerance. */
export const RETENTION_SECONDS_MAX = 600 + 60 + STREAM_SECONDS_MAX;

/** How long after its timestamp a spent proof is remembered. */
export function retentionSeconds(policy: ReplayPolicy): number {
  return policy.maxAgeSeconds + policy.clockToleranceSeconds + STREAM_SECONDS_MAX;
}
