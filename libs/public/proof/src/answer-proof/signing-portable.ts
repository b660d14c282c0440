import { ed25519 } from '@noble/curves/ed25519.js';
import { ED25519 } from '../algorithms.ts';
import { KeyError } from '../errors.ts';

/** `createSigningKey` for runtimes without `node:crypto`. Throws KeyError `key_length`. */
export function createSigningKey(seed: Uint8Array): {
  publicKey: Uint8Array;
  sign(input: Uint8Array): Uint8Array;
} {
  if (seed.length !== ED25519.seedBytes) throw new KeyError('key_length', 'an Ed25519 seed is 32 bytes');
  const secret = Uint8Array.from(seed);
  return { publicKey: ed25519.getPublicKey(secret), sign: (input) => ed25519.sign(input, secret) };
}
