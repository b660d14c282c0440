import { engine } from '#engine';
import { createVerificationKey, thumbprintWith } from './load-key.ts';
import type { KeyInterval, VerificationKey } from './verification-key.ts';

/**
 * Admits 32 bytes as a verification key for the proofs whose timestamp lies in `interval` (Unix seconds, half-open), and imports
 * it into the runtime's engine once. Keep the result: loading is slow, `verify` is not.
 * @throws {KeyError} `key_length`, `key_not_canonical`, `key_not_on_curve`, `key_small_order`, `key_not_torsion_free`, `key_interval`.
 */
export function admitPublicKey(bytes: Uint8Array, interval: KeyInterval = {}): VerificationKey {
  return createVerificationKey(engine, bytes, interval);
}

/** `kid` of a public key: its RFC 7638 thumbprint by SHA-256, 43 characters of base64url. Does not admit the key. */
export function thumbprint(publicKey: Uint8Array): string {
  return thumbprintWith(engine, publicKey);
}
