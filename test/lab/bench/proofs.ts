import { hash } from 'node:crypto';
import { renderProof, signingInputV1, signingInputV2 } from '@ori/proof';
import { createNonce, createSigningKey } from '@ori/proof/signing';
import { createLocalKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';

/** The verified request: user, path, and a JSON body of exactly 1 KiB. */
export const INTERN_ID = 'int_7Qm2bench';
export const PATH = '/api/invoke';
export const BODY: Buffer = Buffer.from(JSON.stringify({ prompt: 'x'.repeat(1024 - 13) }));
const BODY_SHA256 = hash('sha256', BODY, 'hex');

/** The same in every process of a row. */
const key = createSigningKey(hash('sha256', 'the key of benchmarks', 'buffer'));

export const PUBLIC_JWK = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key.publicKey).toString('base64url') };
/** A new proof of version 2 over a body, with the headers that a request through a gateway has. */
export function createProof(nowMs: number) {
  const timestamp = Math.floor(nowMs / 1000);
  const named = { internId: INTERN_ID, timestamp, user: 'ada', bodySha256: BODY_SHA256 };
  const nonce = createNonce();
  const input = signingInputV2({ ...named, nonce, method: 'POST', path: PATH });
  const signature = key.sign(input);
  const signatureV1 = key.sign(signingInputV1(named));
  const headers = renderProof({
    ...named,
    nonce,
    signatures: [
      { version: 1, signature: signatureV1 },
      { version: 2, signature },
    ],
  });
  return { input, signature, rawHeaders: [...ORDINARY_HEADERS, ...Object.entries(headers).flat()] };
}

const ORDINARY_HEADERS = [
  ...['Host', 'intern.example', 'Accept', '*/*', 'User-Agent', 'ori/0.1.0'],
  ...['Content-Type', 'application/json', 'Content-Length', String(BODY.length)],
];

/** A verifier with a memory store, and its clock, which is ahead, as if the store were not new: it accepts proofs. */
export function openVerifier() {
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const verifier = createVerifier({
    internId: INTERN_ID,
    keys: createLocalKeySet({ keys: [{ ...PUBLIC_JWK, use: 'sig', kid: key.kid }] }),
    replay: memoryReplayStore({ entriesMax: 10_000_000, now }),
    now,
  });
  aheadMs = 10_000;
  return { verifier, now };
}
