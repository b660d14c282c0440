export {
  OriError,
  ProofError,
  type ProofErrorCode,
  UnavailableError,
  type UnavailableErrorCode,
} from '@ori/proof/wire';
export type { Answers, AnswersPolicy, KeepAnswers, Recorder } from './kept-answers.ts';
export type { KeySetSnapshot, RemoteKeySet, RemoteKeySetOptions } from './keys/fetched.ts';
export type { KeySet } from './keys/key-set.ts';
export { createLocalKeySet } from './keys/local.ts';
export { createRemoteKeySet } from './keys/remote.ts';
export { PROOF_OUTCOMES, type ProofOutcome, type ProofReport, type RequestFacts } from './outcome.ts';
export type { VerifierOptions } from './policy.ts';
export { type Refusal, toRefusal } from './refusal.ts';
export {
  type MemoryReplayStore,
  type MemoryReplayStoreOptions,
  memoryReplayStore,
} from './replay/memory/store.ts';
export type {
  AnswerStore,
  CallEnd,
  KeptAnswer,
  Question,
  ReplayPolicy,
  ReplayStore,
  Spend,
} from './replay/replay-store.ts';
export type { RequestHead, SignedRequest } from './request.ts';
export type { VerifiedProof } from './verified-proof.ts';
export { createVerifier, type OpenProof, type Verifier } from './verifier.ts';
