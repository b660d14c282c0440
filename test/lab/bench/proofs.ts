import { hash } from 'node:crypto';
import { renderProof, signingInputV1, signingInputV2 } from '@ori/proof';
import { createNonce, createSigningKey } from '@ori/proof/signing';
import { createLocalKeySet, createVerifier, type KeepAnswers, memoryReplayStore } from '@ori/verifier';

/** The verified request: user, path, and a JSON body of exactly 1 KiB. */
export const INTERN_ID = 'int_7Qm2bench';
export const PATH = '/api/invoke';
export const BODY: Uint8Array = Buffer.from(JSON.stringify({ prompt: 'x'.repeat(1024 - 13) }));
const BODY_SHA256 = hash('sha256', BODY, 'hex');

/** The same in every process of a row. */
const key = createSigningKey(hash('sha256', 'the key of benchmarks', 'buffer'));

export const PUBLIC_JWK = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key.publicKey).toString('base64url') };
/** A new proof of version 2 over a body, with the headers that a request through a gateway has. */
export function createProof(nowMs: number, bodySha256 = BODY_SHA256) {
  const named = { internId: INTERN_ID, timestamp: Math.floor(nowMs / 1000), user: 'ada', bodySha256 };
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

/** One proof: its fields, and the header list of its request. */
export type Proof = ReturnType<typeof createProof>;

const ORDINARY_HEADERS = [
  ...['Host', 'intern.example', 'Accept', '*/*', 'User-Agent', 'ori/0.1.0'],
  ...['Content-Type', 'application/json', 'Content-Length', String(BODY.length)],
];

/** How far the clock of `openVerifier` is ahead: as if its store were not new, so that it accepts proofs. */
export const AHEAD_MS = 10_000;

/** A verifier with a memory store, and its clock. */
export function openVerifier(clock: () => number = Date.now, answers?: KeepAnswers) {
  let aheadMs = 0;
  const now = () => clock() + aheadMs;
  const verifier = createVerifier({
    internId: INTERN_ID,
    keys: createLocalKeySet({ keys: [{ ...PUBLIC_JWK, use: 'sig', kid: key.kid }] }),
    replay: memoryReplayStore({ entriesMax: 10_000_000, now }),
    answers,
    now,
  });
  aheadMs = AHEAD_MS;
  return { verifier, now };
}
