import { createPrivateKey, createPublicKey, randomFillSync, sign } from 'node:crypto';
import { ED25519 } from './algorithms.ts';
import { engine as portable } from './engine-portable.ts';
import { KeyError } from './errors.ts';
import { createVerificationKey } from './load-key.ts';
import { thumbprint } from './public-key.ts';

/** An Ed25519 key that signs. Its seed stays inside `node:crypto` and is not readable from it. */
export interface SigningKey {
  /** RFC 7638 thumbprint of the public half. */
  readonly kid: string;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The 64-byte signature over `input` (RFC 8032, section 5.1.6). */
  sign(input: Uint8Array): Uint8Array;
}

const NONCE_BYTES = 16;
/** The DER of an Ed25519 PrivateKeyInfo up to the seed (RFC 8410, section 7). */
const PKCS8_PREFIX = Uint8Array.of(0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20);
/** Not a signing input: its first netstring is not that of any proof. */
const SELF_TEST_INPUT = new TextEncoder().encode('13:ori-self-test,');

/** A signing key from its 32-byte seed (RFC 8032, section 5.1.5). The caller may wipe `seed` afterwards. Throws KeyError `key_length`. */
export function createSigningKey(seed: Uint8Array): SigningKey {
  if (seed.length !== ED25519.seedBytes) throw new KeyError('key_length', 'an Ed25519 seed is 32 bytes');
  const der = Buffer.concat([PKCS8_PREFIX, seed]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  der.fill(0);
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const publicKey = new Uint8Array(spki.subarray(-ED25519.publicKeyBytes));
  return Object.freeze({
    kid: thumbprint(publicKey),
    publicKey,
    sign: (input: Uint8Array): Uint8Array => sign(null, input, privateKey),
  });
}

/**
 * Checks that the published 32 bytes verify what `key` signs. OpenSSL signs and the other engine verifies, so a fault
 * in either is found before a proof is issued. Run it when a key is loaded. Throws KeyError `key_pair_mismatch`, or the
 * errors of admission.
 */
export function selfTest(key: SigningKey, published: Uint8Array): void {
  const admitted = createVerificationKey(portable, published, {});
  if (!admitted.verify(SELF_TEST_INPUT, key.sign(SELF_TEST_INPUT))) {
    throw new KeyError('key_pair_mismatch', 'the published key does not verify what the signing key signs');
  }
}

/** Random bytes for future nonces: drawing many at once costs little more than drawing one. */
const randomness = Buffer.alloc(NONCE_BYTES * 256);
let used = randomness.length;

/** 16 random bytes in base64url: 22 characters. No byte is used twice. */
export function createNonce(): string {
  if (used === randomness.length) {
    randomFillSync(randomness);
    used = 0;
  }
  used += NONCE_BYTES;
  return randomness.toString('base64url', used - NONCE_BYTES, used);
}
