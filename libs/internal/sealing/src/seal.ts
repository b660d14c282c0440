import { createCipheriv, createDecipheriv, type KeyObject, randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { KekRing } from './kek-ring.ts';
import { SealingError } from './sealing-error.ts';

const KEY_WRAP = 'A256GCMKW';
const ENCRYPTION = 'A256GCM';
/** Both algorithms are AES-256-GCM (RFC 7518, sections 4.7 and 5.3). */
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The place that a sealed text belongs to. It opens only under exactly the same context. */
export interface SealContext {
  readonly table: string;
  readonly column: string;
  readonly row: string;
  readonly organizationId?: string;
  readonly workspaceId?: string;
  readonly internId?: string;
}

const sealedHeader = z.strictObject({
  alg: z.literal(KEY_WRAP),
  enc: z.literal(ENCRYPTION),
  kid: z.string(),
  ctx: z.record(z.string(), z.string()),
  iv: z.string(),
  tag: z.string(),
});

/** The members in the order of their names, `column` first. */
function inOrder(context: object): [name: string, value: string][] {
  const members = Object.entries(context).filter(([, value]) => value !== undefined);
  return members.sort(([a], [b]) => (a < b ? -1 : 1));
}

function isSamePlace(sealedFor: Record<string, string>, context: SealContext): boolean {
  return JSON.stringify(inOrder(sealedFor)) === JSON.stringify(inOrder(context));
}

function readHeader(jwe: string): z.infer<typeof sealedHeader> {
  try {
    return sealedHeader.parse(JSON.parse(decode(jwe.split('.', 1)[0] ?? '').toString()));
  } catch {
    throw new SealingError('undecryptable', 'not a sealed text');
  }
}

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

interface Encrypted {
  readonly iv: Buffer;
  readonly text: Buffer;
  readonly tag: Buffer;
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

/** @throws for a wrong key, a changed byte, or a part of the wrong length */
function decrypt(key: KeyObject | Buffer, { iv, text, tag }: Encrypted, authenticated = ''): Buffer {
  if (iv.length !== IV_BYTES || tag.length !== TAG_BYTES) throw new RangeError('expected 96 and 128 bits');
  const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(authenticated));
  decipher.setAuthTag(tag);
  const plaintext = decipher.update(text);
  try {
    decipher.final();
    return plaintext;
  } catch (error) {
    plaintext.fill(0);
    throw error;
  }
}

const encode = (bytes: Buffer): string => bytes.toString('base64url');
const decode = (text: string): Buffer => Buffer.from(text, 'base64url');

/**
 * Opens a sealed text for the place it was read from. Whatever the header claims, only the two algorithms of `seal` are
 * accepted, without compression.
 *
 * @throws SealingError `unknown_kek`, `context_mismatch`, `undecryptable`
 */
export async function open(ring: KekRing, jwe: string, context: SealContext): Promise<Uint8Array> {
  const header = readHeader(jwe);
  const key = ring.key(header.kid);
  if (key === undefined) throw new SealingError('unknown_kek', `the KEK ring has no key ${header.kid}`);
  if (!isSamePlace(header.ctx, context)) {
    throw new SealingError('context_mismatch', 'the sealed text was sealed for another place');
  }
  let contentKey: Buffer | undefined;
  let plaintext: Buffer | undefined;
  try {
    const parts = jwe.split('.');
    if (parts.length !== 5) throw new RangeError('expected five parts');
    const [protectedHeader = '', ...encoded] = parts;
    const [wrapped, iv, text, tag] = encoded.map(decode) as [Buffer, Buffer, Buffer, Buffer];
    contentKey = decrypt(key, { iv: decode(header.iv), text: wrapped, tag: decode(header.tag) });
    plaintext = decrypt(contentKey, { iv, text, tag }, protectedHeader);
    return new Uint8Array(plaintext);
  } catch {
    throw new SealingError('undecryptable', 'the sealed text cannot be decrypted');
  } finally {
    contentKey?.fill(0);
    plaintext?.fill(0);
  }
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
