import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Engine } from './engine.ts';

/** @noble/curves and @noble/hashes: any JavaScript runtime, no `node:crypto`, no `Buffer`. */
export const engine: Engine = {
  loadPublicKey(publicKey) {
    // It checks the equation multiplied by 8, OpenSSL the plain one. They agree where no point has a torsion part: the
    // key has none since it was admitted, R is looked at here.
    return (input, signature) =>
      ed25519.verify(signature, input, publicKey, { zip215: false }) &&
      isTorsionFree(signature.subarray(0, 32));
  },

  createSha256() {
    const digest = sha256.create();
    return {
      update(chunk) {
        digest.update(chunk);
      },
      hex: () => bytesToHex(digest.digest()),
    };
  },

  sha256Hex: (bytes) => bytesToHex(sha256(bytes)),
};

function isTorsionFree(encoded: Uint8Array): boolean {
  return ed25519.Point.fromBytes(encoded).isTorsionFree();
}
