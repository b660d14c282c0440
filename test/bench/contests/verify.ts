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
  judging,
  keySetOf,
  PATH,
  PUBLIC_JWK,
  requireRefusal,
} from './proofs.ts';

/** Verifies a version 2 proof over 1 KiB with a memory store; the peers verify the same request. */
export const CONTESTANTS: Contestants = {
  verify: openVerify,
  raw: openRaw,
  jose: openJose,
  'http-message-signatures': openMessageSignatures,
  'web-bot-auth': openWebBotAuth,
  standardwebhooks: openWebhooks,
};

/** `verifier.verify` with a memory store. */
function openVerify(): Contestant {
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  const verifier = createVerifier({
    internId: INTERN_ID,
    keys: createLocalKeySet(keySetOf()),
    replay: memoryReplayStore({ entriesMax: 10_000_000, now }),
    now,
  });
  // Later than the fence of a new store.
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
      if (user !== 'ada') throw new Error('verified as another user');
      await requireRefusal(() => verifier.verify(request));
      const [other] = requests(1) as [SignedRequest];
      await requireRefusal(() => verifier.verify({ ...other, body: Buffer.concat([BODY, BODY]) }));
    },
  };
}

/** `crypto.verify` over the signing input of such a proof, assembled beforehand. */
function openRaw(): Contestant {
  const key = createPublicKey({ key: PUBLIC_JWK, format: 'jwk' });
  return judging(({ input, signature }) => verify(null, input, key, signature));
}
