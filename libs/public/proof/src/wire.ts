export { ED25519 } from './algorithms.ts';
export { bodySha256, createBodyDigest } from './body-digest.ts';
export {
  KeyError,
  type KeyErrorCode,
  OriError,
  ProofError,
  type ProofErrorCode,
  type ProofErrorOptions,
  UnavailableError,
  type UnavailableErrorCode,
} from './errors.ts';
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
export { KEY_SET_HEADER, renderProof } from './headers.ts';
export {
  type NewestSignature,
  newestSignature,
  type PresentedProof,
  parseProofHeaders,
} from './read-headers.ts';
export {
  ALL_VERSIONS,
  headersOf,
  IDENTIFYING_VERSION,
  isSingleUse,
  issuedVersions,
  PROOF_HEADERS,
  type ProofHeaderValues,
  VERSIONS,
  type Version,
} from './versions.ts';
