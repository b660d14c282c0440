export { DPOP_ALGORITHMS } from './algorithms.ts';
export { type BoundCredential, keyToProve, requirePossession } from './binding.ts';
export { CONTENT_CLAIM, ContentDigest } from './content.ts';
export { DpopError, type DpopErrorCode } from './dpop-error.ts';
export {
  createDpopNonces,
  DPOP_NONCE_PURPOSE,
  type DpopNonces,
  drawEpoch,
  NONCE_SLOT_SECONDS,
} from './nonces.ts';
export {
  createPossession,
  type Possession,
  type ProvenRequest,
  unspent,
  type VerifiedProof,
} from './possession.ts';
export {
  memorySpentProofs,
  PROOF_KEPT_SECONDS,
  type SpendableProof,
  type Spending,
  type SpentProofs,
} from './spent-proofs.ts';
export type { ProofTarget } from './target.ts';
