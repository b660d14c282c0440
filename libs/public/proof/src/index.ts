export { type JwkSet, type PublicJwk, renderJwkSet } from './jwk-set.ts';
export { admitPublicKey, thumbprint } from './public-key.ts';
export { JWK_SET_KEYS_MAX, parseJwkSet, type RefusedKey } from './read-jwk-set.ts';
export { decodeSignature, encodeSignature, SIGNATURE_BYTES } from './signature.ts';
export {
  type ProofFields,
  type ProofV1,
  type ProofV2,
  signingInput,
  signingInputV1,
  signingInputV2,
} from './signing-input.ts';
export { holdsTimestamp, type KeyInterval, type VerificationKey } from './verification-key.ts';
export * from './wire.ts';
