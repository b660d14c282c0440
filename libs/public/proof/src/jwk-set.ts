import { ED25519 } from './algorithms.ts';
import { base64url } from './base64.ts';
import { thumbprint } from './public-key.ts';
import type { VerificationKey } from './verification-key.ts';

/** A published Ed25519 verification key (RFC 7517, RFC 8037). */
export interface PublicJwk {
  kty: 'OKP';
  crv: 'Ed25519';
  use: 'sig';
  /** RFC 7638 thumbprint. */
  kid: string;
  /** 32 bytes, base64url. */
  x: string;
  /** Unix seconds: the first timestamp of a proof for which the key is valid. */
  nbf?: number;
  /** Unix seconds: the first timestamp of a proof for which it is no longer valid. */
  exp?: number;
}

/** A JWK Set (RFC 7517, section 5) of Ed25519 keys. */
export interface JwkSet {
  keys: PublicJwk[];
}

/** The JWK Set of these keys, as the signer publishes it. Does not admit them. */
export function renderJwkSet(
  keys: readonly Pick<VerificationKey, 'publicKey' | 'notBefore' | 'expiresAt'>[],
): JwkSet {
  return {
    keys: keys.map(({ publicKey, notBefore, expiresAt }) => ({
      ...ED25519.jwk,
      use: 'sig',
      kid: thumbprint(publicKey),
      x: base64url.encode(publicKey),
      ...(notBefore === undefined ? {} : { nbf: notBefore }),
      ...(expiresAt === undefined ? {} : { exp: expiresAt }),
    })),
  };
}
