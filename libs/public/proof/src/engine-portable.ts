import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToNumberLE, equalBytes } from '@noble/curves/utils.js';
import { sha256, sha512 } from '@noble/hashes/sha2.js';
import { bytesToHex, concatBytes } from '@noble/hashes/utils.js';
import type { Engine } from './engine.ts';

const { Point } = ed25519;

/** @noble/curves and @noble/hashes: any JavaScript runtime, no `node:crypto`, no `Buffer`. */
export const engine: Engine = {
  load(publicKey) {
    const minusA = Point.fromBytes(publicKey).negate();
    // RFC 8032, section 5.1.7, by the plain equation and on the encoded points, as OpenSSL does it: R = [S]B - [k]A. The
    // library's own `verify` multiplies the equation by 8, and so accepts an R with a torsion part.
    return (input, signature) => {
      const encodedR = signature.subarray(0, 32);
      const s = bytesToNumberLE(signature.subarray(32));
      const k = Point.Fn.create(bytesToNumberLE(sha512(concatBytes(encodedR, publicKey, input))));
      const pointR = Point.BASE.multiplyUnsafe(s).add(minusA.multiplyUnsafe(k));
      return equalBytes(pointR.toBytes(), encodedR);
    };
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
