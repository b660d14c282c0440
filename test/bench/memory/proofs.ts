import { hash } from 'node:crypto';
import { renderProofHeaders, signingInputV1, signingInputV2 } from '@ori/proof';
import { createNonce, createSigningKey } from '@ori/proof/signing';
import { createLocalKeySet, createVerifier, memoryReplayStore } from '@ori/verifier';
import { answer } from './answer.ts';

// Signs and verifies proofs one by one, each with its own body. Its clock advances with the proofs, so that the same number
// is remembered at any time, however fast the machine is.

const PROOFS_PER_SECOND = 1000;
const INTERN_ID = 'int_7Qm2bench';
const PATH = '/api/invoke';
const key = createSigningKey(crypto.getRandomValues(new Uint8Array(32)));
const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key.publicKey).toString('base64url') };
let nowMs = Date.now();
const now = () => nowMs;
const verifier = createVerifier({
  internId: INTERN_ID,
  keys: createLocalKeySet({ keys: [{ ...jwk, use: 'sig', kid: key.kid }] }),
  replay: memoryReplayStore({ now }),
  now,
});
// Later than the fence of a new store.
nowMs += 10_000;
let done = 0;

answer<{ proofs: number }>(async ({ proofs }) => {
  for (let index = 0; index < proofs; index++, done++) {
    nowMs += 1000 / PROOFS_PER_SECOND;
    const body = Buffer.from(JSON.stringify({ prompt: `proof ${done}` }));
    const rawHeaders = sign(hash('sha256', body, 'hex'));
    const proof = await verifier.verify({ method: 'POST', target: PATH, rawHeaders, body });
    if (proof.user !== 'ada') throw new Error('verified as another user');
  }
  // Releases the pages that V8 keeps for new objects, which vary from run to run.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  return { done };
});

function sign(bodySha256: string): string[] {
  const named = { internId: INTERN_ID, timestamp: Math.floor(nowMs / 1000), user: 'ada', bodySha256 };
  const nonce = createNonce();
  const v2 = { signature: key.sign(signingInputV2({ ...named, nonce, method: 'POST', path: PATH })), nonce };
  const headers = renderProofHeaders({ ...named, signatureV1: key.sign(signingInputV1(named)), v2 });
  return ['Content-Type', 'application/json', ...Object.entries(headers).flat()];
}
