import { engine } from './engine-portable.ts';
import {
  createVerificationKey,
  type KeyInterval,
  thumbprintWith,
  type VerificationKey,
} from './verification-key.ts';

/** As in '@ori/proof', always by @noble/curves: needs neither `node:crypto` nor `Buffer`. Some thirty times slower. */
export function admitPublicKey(bytes: Uint8Array, interval: KeyInterval = {}): VerificationKey {
  return createVerificationKey(engine, bytes, interval);
}

/** As in '@ori/proof', by @noble/hashes. */
export function thumbprint(publicKey: Uint8Array): string {
  return thumbprintWith(engine, publicKey);
}

/** As in '@ori/proof', by @noble/hashes. */
export function createBodyDigest(): { update(chunk: Uint8Array): void; hex(): string } {
  return engine.createSha256();
}

/** As in '@ori/proof', by @noble/hashes. */
export function bodySha256(body: Uint8Array): string {
  return engine.sha256Hex(body);
}
