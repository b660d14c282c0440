export { ProofError, type ProofErrorCode, UnavailableError, type UnavailableErrorCode } from '@ori/proof';
export { createLocalKeySet, type KeySet } from './key-set.ts';
export {
  type MemoryReplayStore,
  type MemoryReplayStoreOptions,
  memoryReplayStore,
} from './memory-replay-store.ts';
export { PROOF_OUTCOMES, type ProofOutcome } from './outcome.ts';
export type { VerifierOptions } from './policy.ts';
export { type Refusal, toRefusal } from './refusal.ts';
export { createRemoteKeySet, type RemoteKeySet, type RemoteKeySetOptions } from './remote-key-set.ts';
export type { ReplayPolicy, ReplayStore, Spend } from './replay-store.ts';
export type { RequestHead, SignedRequest } from './requirements.ts';
export { createVerifier, type OpenProof, type VerifiedProof, type Verifier } from './verifier.ts';
