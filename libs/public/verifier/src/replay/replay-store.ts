import { STREAM_SECONDS_MAX } from './times.ts';

/** The verifier's requirements on its replay store. */
export interface ReplayPolicy {
  readonly internId: string;
  readonly maxAgeSeconds: number;
  readonly clockToleranceSeconds: number;
  readonly acceptV1: boolean;
  /** Set if answers are kept. A shared store then also records that this process lives. */
  readonly answers?: object | undefined;
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
  /** Set if the answer to this call is to be kept: the same step then records that a call of this person is running. */
  readonly caller?: string | undefined;
}

/** An answer as its handler gave it. Names are in lower case; repeated headers are joined by a comma. */
export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** How a call ended: with this answer; without one that can be kept; or with one that is too large. */
export type CallEnd = KeptAnswer | 'lost' | 'too_large';

/** A question of `user` about the call with this nonce. */
export interface Question {
  readonly policy: ReplayPolicy;
  readonly user: string;
  readonly nonce: string;
  /** Unix seconds: when the question was signed. */
  readonly timestamp: number;
  /** The verifier's clock, Unix milliseconds. */
  readonly nowMs: number;
}

/** The records of calls, in the same store as their spent proofs: REPLAY-STORES.md, N14 to N22. */
export interface AnswerStore {
  /**
   * Replaces the record `running` of a spend that this process made; does nothing if the record was lost. Called again with `lost` to
   * forget an answer before its time. The verifier bounds what a store keeps by promises; one that keeps it at once bounds itself.
   */
  keep(call: Pick<Question, 'policy' | 'user' | 'nonce'>, end: CallEnd): Promise<void> | void;
  /**
   * The record of the call. An unknown nonce is spent in the same step. `not_received` means that no call with it was ever accepted
   * or will be, or that it is another person's; `lost`, that nobody knows.
   * @throws {UnavailableError} as `spend`.
   */
  ask(
    question: Question,
  ): Promise<CallEnd | 'running' | 'not_received'> | CallEnd | 'running' | 'not_received';
}

/**
 * Remembers spent proofs. `spend` is the last step of verification. It resolves to 'spent' for one caller among all processes that
 * present the same proof; for the others, and whenever the store is not certain, it throws. Any other result refuses the proof (the
 * type is `string` because TypeScript widens what an `async` method of a plain object returns). The verifier sets it no time limit.
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
  /** Absent: the store cannot keep answers. */
  readonly answers?: AnswerStore;
}

/** How long after its timestamp a spent proof is remembered. */
export function retentionSeconds(policy: ReplayPolicy): number {
  return policy.maxAgeSeconds + policy.clockToleranceSeconds + STREAM_SECONDS_MAX;
}
