import { createCipheriv, type KeyObject, randomBytes } from 'node:crypto';
import type { KekRing } from './kek-ring.ts';
import {
  CIPHER,
  ENCRYPTION,
  type Encrypted,
  encode,
  IV_BYTES,
  inOrder,
  KEY_WRAP,
  open,
  readHeader,
  type SealContext,
  TAG_BYTES,
} from './open.ts';

const KEY_BYTES = 32;

/**
 * The prefix of every text that {@link seal} makes under the KEK, and of no text under another KEK: the header up to the
 * first member of `ctx`, without the bytes that base64url encodes together with later ones.
 */
export function sealedPrefix(kid: string): string {
  const start = JSON.stringify({ alg: KEY_WRAP, enc: ENCRYPTION, kid }).replace(/}$/, ',"ctx":{"column":');
  return encode(Buffer.from(start)).slice(0, 4 * Math.floor(start.length / 3));
}

/** The `kid` of the KEK that the text is sealed under. @throws SealingError `undecryptable` */
export function sealedUnder(jwe: string): string {
  return readHeader(jwe).kid;
}

/** A compact JWE (RFC 7516) under the ring's first key; the context is in the protected header. */
export async function seal(ring: KekRing, plaintext: Uint8Array, context: SealContext): Promise<string> {
  const { kid, key } = ring.primary;
  const contentKey = randomBytes(KEY_BYTES);
  try {
    const wrapped = encrypt(key, contentKey);
    const { iv, tag } = wrapped;
    const header = {
      alg: KEY_WRAP,
      enc: ENCRYPTION,
      kid,
      ctx: Object.fromEntries(inOrder(context)),
      iv: encode(iv),
      tag: encode(tag),
    };
    const protectedHeader = encode(Buffer.from(JSON.stringify(header)));
    const content = encrypt(contentKey, plaintext, protectedHeader);
    return [protectedHeader, ...[wrapped.text, content.iv, content.text, content.tag].map(encode)].join('.');
  } finally {
    contentKey.fill(0);
  }
}

function encrypt(key: KeyObject | Buffer, plaintext: Uint8Array, authenticated = ''): Encrypted {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(authenticated));
  // GCM is a stream cipher: `final` adds no byte.
  const text = cipher.update(plaintext);
  cipher.final();
  return { iv, text, tag: cipher.getAuthTag() };
}

/**
 * Re-seals the secret under the first key of the ring, for the same place. Returns a text that is already under it
 * unchanged.
 *
 * @throws SealingError `unknown_kek`, `context_mismatch`, `undecryptable`
 */
export async function reseal(ring: KekRing, jwe: string, context: SealContext): Promise<string> {
  const plaintext = await open(ring, jwe, context);
  try {
    return jwe.startsWith(sealedPrefix(ring.primary.kid)) ? jwe : await seal(ring, plaintext, context);
  } finally {
    plaintext.fill(0);
  }
}
