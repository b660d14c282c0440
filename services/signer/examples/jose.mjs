import { randomUUID } from 'node:crypto';
import { exportJWK, SignJWT } from 'jose';
import { contentHash } from './content-hash.mjs';
export async function dpopProof({ privateKey, publicKey }, accessToken, url, content, nonce) {
  const claims = { htm: 'POST', htu: url, ath: contentHash(accessToken), nonce, 'x-camara:bh': contentHash(content) };
  return new SignJWT({ ...claims, jti: randomUUID() })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await exportJWK(publicKey) })
    .setIssuedAt().sign(privateKey);
}
