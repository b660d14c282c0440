import { createHash, randomUUID } from 'node:crypto';
import { CompactSign, type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair } from 'jose';

export type DpopTestAlgorithm = 'ES256' | 'EdDSA' | 'Ed25519' | 'ES384' | 'PS256';

/** The contents of a DPoP proof. Omitted members are as an honest client would set them. */
export interface DpopProofOptions {
  readonly method?: string;
  readonly url: string;
  readonly accessToken: string;
  readonly nonce?: string;
  /** The content of the request. Default: none. */
  readonly content?: string | Uint8Array;
  /** Merged over the honest claims; `undefined` removes one. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** Merged over the honest header; `undefined` removes a member. */
  readonly header?: Readonly<Record<string, unknown>>;
  /** Another signing key. */
  readonly signWith?: CryptoKey | Uint8Array;
}

export async function createDpopKey(algorithm: DpopTestAlgorithm = 'ES256') {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true });
  const publicJwk = await exportJWK(publicKey);
  return {
    algorithm,
    privateKey,
    publicKey,
    publicJwk,
    privateJwk: await exportJWK(privateKey),
    /** RFC 7638, for `cnf.jkt`. */
    thumbprint: await calculateJwkThumbprint(publicJwk),
    /** Uses jose only: RFC 9449, section 4.2. */
    async proof({
      method = 'POST',
      url,
      accessToken,
      nonce,
      content = '',
      claims,
      header,
      signWith = privateKey,
    }: DpopProofOptions): Promise<string> {
      const payload = {
        jti: randomUUID(),
        htm: method,
        htu: url,
        iat: Math.floor(Date.now() / 1000),
        ath: createHash('sha256').update(accessToken).digest('base64url'),
        nonce,
        'x-camara:bh': createHash('sha256').update(content).digest('base64url'),
        ...claims,
      };
      const protectedHeader = { alg: algorithm, typ: 'dpop+jwt', jwk: publicJwk, ...header };
      if (header?.['alg'] === 'none') {
        return `${encode(protectedHeader)}.${encode(payload)}.`;
      }
      return new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
        .setProtectedHeader(present(protectedHeader) as { alg: string })
        .sign(signWith);
    },
  };
}

/** A client's key pair, and the proofs that it signs. */
export type DpopKey = Awaited<ReturnType<typeof createDpopKey>>;

/** The raw headers of a request with such a token. */
export const dpopHeaders = (accessToken: string, proof: string): string[] => [
  ...['Authorization', `DPoP ${accessToken}`],
  ...['DPoP', proof],
];

function present(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

export const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
