import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import type { NoteSigner } from './cosignature.ts';

/** The DER of an ML-DSA-44 PrivateKeyInfo up to the seed (RFC 9881, section 6). */
const PKCS8_PREFIX = Buffer.from('3034020100300b060960864801650304031104228020', 'hex');

/** An ML-DSA-44 key from its 32-byte seed (FIPS 204). */
export function createMlDsaKey(seed: Uint8Array): NoteSigner {
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  const { pub } = createPublicKey(privateKey).export({ format: 'jwk' }) as { pub: string };
  return {
    publicKey: Buffer.from(pub, 'base64url'),
    sign: (input) => sign(null, input, privateKey),
  };
}
