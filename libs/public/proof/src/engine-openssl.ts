import { createHash, createPublicKey, hash, verify } from 'node:crypto';
import { ED25519 } from './algorithms.ts';
import { base64url } from './base64.ts';
import type { Engine } from './engine.ts';

/** OpenSSL through `node:crypto`: about twenty times faster than JavaScript. */
export const engine: Engine = {
  load(publicKey) {
    const jwk = { ...ED25519.jwk, x: base64url.encode(publicKey) };
    const key = createPublicKey({ key: jwk, format: 'jwk' });
    return (input, signature) => verify(null, input, key, signature);
  },

  createSha256() {
    const sha256 = createHash('sha256');
    return {
      update(chunk) {
        sha256.update(chunk);
      },
      hex: () => sha256.digest('hex'),
    };
  },

  sha256Hex: (bytes) => hash('sha256', bytes, 'hex'),
};
