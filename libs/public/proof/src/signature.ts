import { base64 } from './base64.ts';
import { ProofError } from './errors.ts';

/** Ed25519: R (32 bytes), then S (32 bytes, little-endian). RFC 8032, section 5.1.6. */
export const SIGNATURE_BYTES = 64;

/** Text of a 64-byte signature: 88 characters of base64 with padding. Throws TypeError for any other length. */
export function encodeSignature(bytes: Uint8Array): string {
  if (bytes.length !== SIGNATURE_BYTES) throw new TypeError('a signature is 64 bytes');
  return base64.encode(bytes);
}

/**
 * The 64 bytes of a signature's text, which must be exactly `[A-Za-z0-9+/]{85}[AQgw]==` (SPEC.md, section 2).
 * Says nothing about the signature itself. Throws ProofError `proof_malformed` for every other spelling of the same bytes.
 */
export function decodeSignature(text: string): Uint8Array {
  const bytes = base64.decode(text, SIGNATURE_BYTES);
  if (bytes === undefined)
    throw new ProofError('proof_malformed', 'the signature is not 64 bytes of canonical base64');
  return bytes;
}
