import { ed25519 } from '@noble/curves/ed25519.js';
import { engine } from '../../../../libs/public/proof/src/engine-portable.ts';
import { createVerificationKey } from '../../../../libs/public/proof/src/verification-key.ts';
import type { Contestants } from '../contest.ts';
import { PUBLIC_JWK } from '../proofs.ts';
import { judgingSignatures } from './verify.ts';

const publicKey = new Uint8Array(Buffer.from(PUBLIC_JWK.x, 'base64url'));
const key = createVerificationKey(engine, publicKey, {});

/** Verifies a proof's signature with the portable engine, and with its underlying library. */
export const CONTESTANTS: Contestants = {
  portable: () => judgingSignatures(({ input, signature }) => key.verify(input, signature)),
  '@noble/curves': () =>
    judgingSignatures(({ input, signature }) =>
      ed25519.verify(signature, input, publicKey, { zip215: false }),
    ),
};
