import { createPrivateKey, hash, type KeyObject, randomBytes } from 'node:crypto';
import { bodySha256, renderProofHeaders, signingInputV1, signingInputV2 } from '@ori/proof';
import { createNonce, createSigningKey } from '@ori/proof/signing';
import type { Contestant } from '../contest.ts';

/** The verified request: user, path, and a JSON body of exactly 1 KiB. */
export const INTERN_ID = 'int_7Qm2bench';
export const PATH = '/api/invoke';
export const BODY: Uint8Array = Buffer.from(JSON.stringify({ prompt: 'x'.repeat(1024 - 13) }));

/** One proof: its fields, and the header list of its request. */
export interface Proof {
  readonly input: Uint8Array;
  readonly signature: Uint8Array;
  readonly rawHeaders: readonly string[];
}

const seed = randomBytes(32);
const key = createSigningKey(seed);

/** The key pair as Node key objects, for peers that sign themselves. */
export const PUBLIC_JWK = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key.publicKey).toString('base64url') };
export const PRIVATE_JWK = { ...PUBLIC_JWK, d: seed.toString('base64url') };
export const PRIVATE_KEY: KeyObject = createPrivateKey({ key: PRIVATE_JWK, format: 'jwk' });

export function keySetOf(): object {
  return { keys: [{ ...PUBLIC_JWK, use: 'sig', kid: key.kid }] };
}

/** New proofs of version 2 over `BODY`, with the headers that a request through a gateway has. */
export function createProofs(count: number, nowMs: number): Proof[] {
  const timestamp = Math.floor(nowMs / 1000);
  const named = { internId: INTERN_ID, timestamp, user: 'ada', bodySha256: bodySha256(BODY) };
  const signatureV1 = key.sign(signingInputV1(named));
  return Array.from({ length: count }, () => {
    const nonce = createNonce();
    const input = signingInputV2({ ...named, nonce, method: 'POST', path: PATH });
    const signature = key.sign(input);
    const headers = renderProofHeaders({ timestamp, user: 'ada', signatureV1, v2: { signature, nonce } });
    return { input, signature, rawHeaders: [...ORDINARY_HEADERS, ...Object.entries(headers).flat()] };
  });
}

const ORDINARY_HEADERS = [
  ...['Host', 'intern.example', 'Accept', '*/*', 'User-Agent', 'ori/0.1.0'],
  ...['Content-Type', 'application/json', 'Content-Length', String(BODY.length)],
];

/** A verifier of proof signatures. */
export function judging(isGood: (proof: Proof) => boolean): Contestant {
  return {
    async prepare(count) {
      const proofs = createProofs(count, Date.now());
      return async () => {
        for (const proof of proofs) if (!isGood(proof)) throw new Error('a valid signature was refused');
      };
    },
    async check() {
      const [proof] = createProofs(1, Date.now()) as [Proof];
      if (!isGood(proof)) throw new Error('a valid signature was refused');
      if (isGood({ ...proof, input: Buffer.concat([proof.input, BODY]) }))
        throw new Error('an invalid signature was accepted');
    },
  };
}

/** A request whose `Content-Digest` (RFC 9530) binds the body, for protocols that sign header fields. */
export const REQUEST = {
  method: 'POST',
  url: 'https://intern.example/api/invoke',
  headers: {
    host: 'intern.example',
    accept: '*/*',
    'user-agent': 'ori/0.1.0',
    'content-type': 'application/json',
    'content-length': String(BODY.length),
    'x-user': 'ada',
    'content-digest': `sha-256=:${hash('sha256', BODY, 'base64')}:`,
  },
};

/** The fields of it that are signed. */
export const FIELDS = ['@authority', '@method', '@path', 'content-type', 'content-digest', 'x-user'];

/** The body's SHA-256 in base64, for protocols that leave it to the user to bind the body. */
export function digestOf(body: Uint8Array): string {
  return hash('sha256', body, 'base64');
}

/** @throws Error unless the callback throws */
export async function requireRefusal(judge: () => unknown): Promise<void> {
  const isRefused = await Promise.resolve()
    .then(judge)
    .then(
      () => false,
      () => true,
    );
  if (!isRefused) throw new Error('bad input was accepted');
}
