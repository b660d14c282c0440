import { createDecipheriv, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { KekRing } from './kek-ring.ts';
import { SealingError } from './sealing-error.ts';

export const KEY_WRAP = 'A256GCMKW';
export const ENCRYPTION = 'A256GCM';
/** Both algorithms are AES-256-GCM (RFC 7518, sections 4.7 and 5.3). */
export const CIPHER = 'aes-256-gcm';
export const IV_BYTES = 12;
export const TAG_BYTES = 16;

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
export function inOrder(context: object): [name: string, value: string][] {
  const members = Object.entries(context).filter(([, value]) => value !== undefined);
  return members.sort(([a], [b]) => (a < b ? -1 : 1));
}

function isSamePlace(sealedFor: Record<string, string>, context: SealContext): boolean {
  return JSON.stringify(inOrder(sealedFor)) === JSON.stringify(inOrder(context));
}

export function readHeader(jwe: string): z.infer<typeof sealedHeader> {
  try {
    return sealedHeader.parse(JSON.parse(decode(jwe.split('.', 1)[0] ?? '').toString()));
  } catch {
    throw new SealingError('undecryptable', 'not a sealed text');
  }
}

export interface Encrypted {
  readonly iv: Buffer;
  readonly text: Buffer;
  readonly tag: Buffer;
}

/** @throws for a wrong key, a changed byte, or a tag of another length */
function decrypt(key: KeyObject | Buffer, { iv, text, tag }: Encrypted, authenticated = ''): Buffer {
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

export const encode = (bytes: Buffer): string => bytes.toString('base64url');
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
