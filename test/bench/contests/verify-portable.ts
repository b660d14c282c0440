import { Buffer } from 'node:buffer';
import { ed25519 } from '@noble/curves/ed25519.js';
import { engine } from '../../../libs/public/proof/src/engine-portable.ts';
import { createVerificationKey } from '../../../libs/public/proof/src/verification-key.ts';
import type { Contestants } from '../contest.ts';
import { judging, PUBLIC_JWK } from './proofs.ts';

/** Verifies a proof's signature with the portable engine, and with its underlying library. */
export const CONTESTANTS: Contestants = {
  portable: () => {
    const key = createVerificationKey(engine, publicKey(), {});
    return judging(({ input, signature }) => key.verify(input, signature));
  },
  '@noble/curves': () => {
    const key = publicKey();
    return judging(({ input, signature }) => ed25519.verify(signature, input, key, { zip215: false }));
  },
};

const publicKey = () => new Uint8Array(Buffer.from(PUBLIC_JWK.x, 'base64url'));
