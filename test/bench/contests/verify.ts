import { createPublicKey, verify } from 'node:crypto';
import { createLocalKeySet, createVerifier, memoryReplayStore, type SignedRequest } from '@ori/verifier';
import type { Contestant, Contestants } from '../contest.ts';
import { openJose } from './peers/jose.ts';
import { openMessageSignatures } from './peers/message-signatures.ts';
import { openWebBotAuth } from './peers/web-bot-auth.ts';
import { openWebhooks } from './peers/webhooks.ts';
import {
  BODY,
  createProofs,
  INTERN_ID,
  keySetOf,
  PATH,
  type Proof,
  PUBLIC_JWK,
  requireRefusal,
} from './proofs.ts';

/** A proof of version 2 over a body of 1 KiB, spent in a memory store; what others do for the same request. */
export const CONTESTANTS: Contestants = {
  verify: openVerify,
  raw: openRaw,
  jose: openJose,
  'http-message-signatures': openMessageSignatures,
  'web-bot-auth': openWebBotAuth,
  standardwebhooks: openWebhooks,
};

/** `verifier.verify` with a store that remembers all it was shown. */
function openVerify(): Contestant {
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const verifier = createVerifier({
    internId: INTERN_ID,
    keys: createLocalKeySet(keySetOf()),
    replay: memoryReplayStore({ entriesMax: 10_000_000, now }),
    now,
  });
  // Past the fence of a store just made.
  aheadMs = 10_000;
  const requests = (count: number): SignedRequest[] =>
    createProofs(count, now()).map(({ rawHeaders }) => ({
      method: 'POST',
      target: PATH,
      rawHeaders,
      body: BODY,
    }));
  return {
    async prepare(count) {
      const prepared = requests(count);
      return async () => {
        for (const request of prepared) await verifier.verify(request);
      };
    },
    async check() {
      const [request] = requests(1) as [SignedRequest];
      const { user } = await verifier.verify(request);
      if (user !== 'ada') throw new Error('verified as somebody else');
      await requireRefusal(() => verifier.verify(request));
      const [other] = requests(1) as [SignedRequest];
      await requireRefusal(() => verifier.verify({ ...other, body: Buffer.concat([BODY, BODY]) }));
    },
  };
}

/** `crypto.verify` over the signing input of the same kind of proof, which somebody else has put together. */
function openRaw(): Contestant {
  const key = createPublicKey({ key: PUBLIC_JWK, format: 'jwk' });
  const isGood = ({ input, signature }: Proof) => verify(null, input, key, signature);
  return {
    async prepare(count) {
      const proofs = createProofs(count, Date.now());
      return async () => {
        for (const proof of proofs) if (!isGood(proof)) throw new Error('a good signature was refused');
      };
    },
    async check() {
      const [proof] = createProofs(1, Date.now()) as [Proof];
      if (isGood({ ...proof, input: Buffer.concat([proof.input, BODY]) }))
        throw new Error('it accepts anything');
    },
  };
}
