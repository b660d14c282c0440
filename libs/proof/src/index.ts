export { bodySha256, createBodyDigest } from './body-digest.ts';
export {
  KeyError,
  type KeyErrorCode,
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
export {
  PROOF_HEADERS,
  type PresentedProof,
  type ProofHeaderValues,
  parseProofHeaders,
  renderProofHeaders,
} from './headers.ts';
export {
  JWK_SET_KEYS_MAX,
  type JwkSet,
  type PublicJwk,
  parseJwkSet,
  type RefusedKey,
  renderJwkSet,
} from './jwk-set.ts';
export { admitPublicKey, thumbprint } from './public-key.ts';
export { decodeSignature, encodeSignature, SIGNATURE_BYTES } from './signature.ts';
export { type ProofV1, type ProofV2, signingInputV1, signingInputV2 } from './signing-input.ts';
export { holdsTimestamp, type KeyInterval, type VerificationKey } from './verification-key.ts';
