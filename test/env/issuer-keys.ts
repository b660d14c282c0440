import { randomBytes } from 'node:crypto';
import { exportJWK, generateKeyPair } from 'jose';

export type IssuerAlgorithm = 'ES256' | 'EdDSA' | 'RS256';

export async function createIssuerKey(algorithm: IssuerAlgorithm) {
  const { privateKey, publicKey } = await (algorithm === 'RS256' ? rsaPair() : generateKeyPair(algorithm));
  const kid = randomBytes(8).toString('hex');
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' };
  return { kid, algorithm, privateKey, publicJwk, published: true };
}

/** A signing key of the issuer; only published ones are in its JWK Set. */
export type IssuerKey = Awaited<ReturnType<typeof createIssuerKey>>;

let rsa: ReturnType<typeof generateKeyPair> | undefined;

/** One per process: generating one takes 0.1 s. */
function rsaPair(): ReturnType<typeof generateKeyPair> {
  rsa ??= generateKeyPair('RS256');
  return rsa;
}
