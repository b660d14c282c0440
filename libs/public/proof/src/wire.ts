export { bodySha256, createBodyDigest } from './body-digest.ts';
export {
  isBodySha256,
  isInternId,
  isMethod,
  isNonce,
  isPath,
  isTimestamp,
  isTimestampSeconds,
  isUser,
  PATH_CHARACTERS_MAX,
  PROOF_METHOD,
  TIMESTAMP_MAX,
} from './fields.ts';
export {
  PROOF_HEADERS,
  type PresentedProof,
  type ProofHeaderValues,
  parseProofHeaders,
  renderProofHeaders,
} from './headers.ts';
