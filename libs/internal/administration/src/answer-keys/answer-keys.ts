import { randomBytes } from 'node:crypto';
import { createSigningKey } from '@ori/proof/signing';

/** A new key with which a daemon proves its answers: the text of its file, and the public half for `apply`. */
export function makeAnswerKey(): { text: string; x: string } {
  const seed = randomBytes(32);
  try {
    const x = Buffer.from(createSigningKey(seed).publicKey).toString('base64url');
    return { text: `${seed.toString('base64url')}\n`, x };
  } finally {
    seed.fill(0);
  }
}
