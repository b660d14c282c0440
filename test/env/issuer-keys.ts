import { randomBytes } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose';

export type IssuerAlgorithm = 'ES256' | 'EdDSA' | 'RS256';

/** A signing key of the issuer; only published ones are in its JWK Set. */
export interface IssuerKey {
  readonly kid: string;
  readonly algorithm: IssuerAlgorithm;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
  readonly published: boolean;
}

export async function createIssuerKey(algorithm: IssuerAlgorithm): Promise<IssuerKey> {
  const { privateKey, publicKey } = await (algorithm === 'RS256' ? rsaPair() : generateKeyPair(algorithm));
  const kid = randomBytes(8).toString('hex');
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm, use: 'sig' };
  return { kid, algorithm, privateKey, publicJwk, published: true };
}

let rsa: ReturnType<typeof generateKeyPair> | undefined;

/** One per process: generating one takes 0.1 s. */
function rsaPair(): ReturnType<typeof generateKeyPair> {
  rsa ??= generateKeyPair('RS256');
  return rsa;
}
