import { hash } from 'node:crypto';
import { answer } from '../../../env/worker.ts';
import { createProof, openVerifier, PATH } from '../proofs.ts';

// Signs and verifies proofs one by one, each with its own body. Its clock advances with the proofs, so that the same number
// is remembered at any time, however fast the machine is.

const PROOFS_PER_SECOND = 1000;
let clockMs = Date.now();
const { verifier, now } = openVerifier(() => clockMs);
let done = 0;

answer<{ proofs: number }>(async ({ proofs }) => {
  for (let index = 0; index < proofs; index++, done++) {
    clockMs += 1000 / PROOFS_PER_SECOND;
    const body = Buffer.from(JSON.stringify({ prompt: `proof ${done}` }));
    const { rawHeaders } = createProof(now(), hash('sha256', body, 'hex'));
    const proof = await verifier.verify({ method: 'POST', target: PATH, rawHeaders, body });
    if (proof.user !== 'ada') throw new Error('verified as another user');
  }
  // Releases the pages that V8 keeps for new objects, which vary from run to run.
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  return { done };
});
