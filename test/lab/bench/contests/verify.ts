import { createPublicKey, verify } from 'node:crypto';
import type { SignedRequest } from '@ori/verifier';
import { type Contestant, type Contestants, judging } from '../contest.ts';
import { BODY, createProof, openVerifier, PATH, type Proof, PUBLIC_JWK } from '../proofs.ts';

/** Verifies a version 2 proof over 1 KiB with a memory store. */
export const CONTESTANTS: Contestants = {
  verify: openVerify,
  raw: openRaw,
};

/** `verifier.verify` with a memory store. */
function openVerify(): Contestant {
  const { verifier, now } = openVerifier();
  return judging<SignedRequest>(
    () => ({ method: 'POST', target: PATH, rawHeaders: createProof(now()).rawHeaders, body: BODY }),
    async (request) => {
      const { user } = await verifier.verify(request);
      if (user !== 'ada') throw new Error('verified as another user');
    },
    (accepted, other) => [accepted, { ...other, body: Buffer.concat([BODY, BODY]) }],
  );
}

/** `crypto.verify` over the signing input of such a proof, assembled beforehand. */
function openRaw(): Contestant {
  const key = createPublicKey({ key: PUBLIC_JWK, format: 'jwk' });
  return judgingSignatures(({ input, signature }) => verify(null, input, key, signature));
}

/** A verifier of the signatures of proofs. */
export function judgingSignatures(isGood: (proof: Proof) => boolean): Contestant {
  return judging(
    () => createProof(Date.now()),
    (proof) => {
      if (!isGood(proof)) throw new Error('a valid signature was refused');
    },
    (_, other) => [{ ...other, input: Buffer.concat([other.input, BODY]) }],
  );
}
