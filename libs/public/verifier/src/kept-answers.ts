import type { Answer } from './refusal.ts';
import type { ReplayPolicy, ReplayStore } from './replay/replay-store.ts';
import type { VerifiedProof } from './verified-proof.ts';

/** What `keepAnswers` of '@ori/verifier/answers' returns, for the option `answers` of `createVerifier`, which calls it. */
export type KeepAnswers = (policy: AnswersPolicy) => Answers;

export interface AnswersPolicy extends ReplayPolicy {
  readonly replay: ReplayStore;
  now(): number;
}

/** Kept answers, for adapters. */
export interface Answers {
  /** The verifier accepted this proof of these bytes. */
  accept(proof: VerifiedProof, signingInput: Uint8Array): void;
  /**
   * The answer to a question about another call of the same person; undefined if `proof` is for an ordinary call. Rejects with
   * UnavailableError if the store does not answer. With a key it is proven.
   */
  ask(proof: VerifiedProof): Promise<Answer> | undefined;
  /** For the answer to an ordinary call. */
  record(proof: VerifiedProof): Recorder;
  /** Records what a handler writes to `response`, a ServerResponse of node:http or node:http2. */
  recordNode(response: object, proof: VerifiedProof): Recorder;
  /** Records the response that a Fetch handler returns, and returns it. */
  recordResponse<Answered extends Response>(
    request: Request,
    proof: VerifiedProof,
    answered: () => Answered | Promise<Answered>,
  ): Promise<Answered>;
}

/** Is told of one answer while a handler gives it. */
export interface Recorder {
  /** The names are in lower case. */
  begin(status: number, headers: Readonly<Record<string, string>>): void;
  add(chunk: Uint8Array): void;
  /** `last` is not copied: it must not change afterwards. */
  end(last?: Uint8Array): void;
  /** The handler gave up. */
  lose(): void;
}
