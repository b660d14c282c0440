import { asciiBytes } from './ascii.ts';
import {
  isBodySha256,
  isInternId,
  isMethod,
  isNonce,
  isPath,
  isTimestampSeconds,
  isUser,
  type PROOF_METHOD,
} from './fields.ts';

/** What a version 1 proof covers. */
export interface ProofV1 {
  internId: string;
  /** Unix seconds. */
  timestamp: number;
  /** The OAuth subject the signer verified. */
  user: string;
  /** SHA-256 of the exact body, 64 lower-case hex digits. */
  bodySha256: string;
}

/** What a version 2 proof covers: version 1, the request line, and a nonce. */
export interface ProofV2 extends ProofV1 {
  /** 16 random bytes in base64url. */
  nonce: string;
  method: typeof PROOF_METHOD;
  /** The raw request-target, without query. */
  path: string;
}

/**
 * The bytes that a version 1 signature covers (SPEC.md, section 2): five netstrings, nothing between or after.
 * @throws {TypeError} if a field is outside its alphabet, so every field is ASCII and its length in characters is its
 * length in bytes.
 */
export function signingInputV1(proof: ProofV1): Uint8Array {
  requireFieldsV1(proof);
  const { internId, user, bodySha256 } = proof;
  const timestamp = String(proof.timestamp);
  return asciiBytes(
    `13:ori-invoke-v1,${internId.length}:${internId},${timestamp.length}:${timestamp},${user.length}:${user},64:${bodySha256},`,
  );
}

/**
 * The bytes that a version 2 signature covers (SPEC.md, section 2): eight netstrings, nothing between or after.
 * @throws {TypeError} if a field is outside its alphabet.
 */
export function signingInputV2(proof: ProofV2): Uint8Array {
  requireFieldsV1(proof);
  if (!isNonce(proof.nonce)) throw new TypeError('nonce is outside its alphabet');
  if (!isMethod(proof.method)) throw new TypeError('method is not POST');
  if (!isPath(proof.path)) throw new TypeError('path is outside its alphabet');
  const { internId, nonce, user, path, bodySha256 } = proof;
  const timestamp = String(proof.timestamp);
  return asciiBytes(
    `13:ori-invoke-v2,${internId.length}:${internId},${timestamp.length}:${timestamp},22:${nonce},${user.length}:${user},4:POST,${path.length}:${path},64:${bodySha256},`,
  );
}

function requireFieldsV1(proof: ProofV1): void {
  if (!isInternId(proof.internId)) throw new TypeError('internId is outside its alphabet');
  if (!isTimestampSeconds(proof.timestamp)) throw new TypeError('timestamp is not whole Unix seconds');
  if (!isUser(proof.user)) throw new TypeError('user is outside its alphabet');
  if (!isBodySha256(proof.bodySha256)) throw new TypeError('bodySha256 is not 64 lower-case hex digits');
}
