import { ED25519 } from './algorithms.ts';
import { base64 } from './base64.ts';
import { ProofError } from './errors.ts';

/** The bytes of an Ed25519 signature. */
export const SIGNATURE_BYTES = ED25519.signatureBytes;

/** The text of a signature, 88 characters for 64 bytes: base64 with padding. Throws TypeError for another length. */
export function encodeSignature(bytes: Uint8Array): string {
  if (bytes.length !== SIGNATURE_BYTES) throw new TypeError(`a signature is ${SIGNATURE_BYTES} bytes`);
  return base64.encode(bytes);
}

/**
 * The bytes of a signature's text, which must be canonical base64: `[A-Za-z0-9+/]{85}[AQgw]==` (SPEC.md, section 2).
 * Does not verify the signature. Throws ProofError `proof_malformed` for every other spelling of the same bytes.
 */
export function decodeSignature(text: string): Uint8Array {
  const bytes = base64.decode(text, SIGNATURE_BYTES);
  if (bytes === undefined)
    throw new ProofError(
      'proof_malformed',
      `the signature is not ${SIGNATURE_BYTES} bytes of canonical base64`,
    );
  return bytes;
}
