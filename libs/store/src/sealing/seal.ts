import { CompactEncrypt, compactDecrypt, decodeProtectedHeader } from 'jose';
import { z } from 'zod';
import type { KekRing } from './kek-ring.ts';
import { SealingError } from './sealing-error.ts';

const KEY_WRAP = 'A256GCMKW';
const ENCRYPTION = 'A256GCM';

/** Where a sealed text belongs. Every member counts: it opens only under exactly the same context. */
export interface SealContext {
  readonly table: string;
  readonly column: string;
  readonly row: string;
  readonly organizationId?: string;
  readonly workspaceId?: string;
  readonly internId?: string;
  readonly issuer?: string;
  readonly baseUrl?: string;
}

const sealedHeader = z.strictObject({
  alg: z.literal(KEY_WRAP),
  enc: z.literal(ENCRYPTION),
  kid: z.string(),
  ctx: z.record(z.string(), z.string()),
  iv: z.string(),
  tag: z.string(),
});

function canonical(context: object): string {
  const members = Object.entries(context).filter(([, value]) => value !== undefined);
  return JSON.stringify(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function readHeader(jwe: string): z.infer<typeof sealedHeader> {
  try {
    return sealedHeader.parse(decodeProtectedHeader(jwe));
  } catch {
    throw new SealingError('undecryptable', 'the sealed text is not one of ours');
  }
}

/** The `kid` of the KEK that the text is sealed under. @throws SealingError `undecryptable` */
export function sealedUnder(jwe: string): string {
  return readHeader(jwe).kid;
}

/** A compact JWE (RFC 7516) under the ring's first key; the context is in the protected header. */
export async function seal(ring: KekRing, plaintext: Uint8Array, context: SealContext): Promise<string> {
  const { kid, key } = ring.primary;
  return await new CompactEncrypt(plaintext)
    .setProtectedHeader({ alg: KEY_WRAP, enc: ENCRYPTION, kid, ctx: { ...context } })
    .encrypt(key);
}

/**
 * Opens a sealed text for the place it was read from. Whatever the header claims, only the two algorithms that
 * `seal` uses are tried, and no compression.
 *
 * @throws SealingError `unknown_kek`, `context_mismatch`, `undecryptable`
 */
export async function open(ring: KekRing, jwe: string, context: SealContext): Promise<Uint8Array> {
  const header = readHeader(jwe);
  const key = ring.key(header.kid);
  if (key === undefined) throw new SealingError('unknown_kek', `no key ${header.kid} in the KEK ring`);
  if (canonical(header.ctx) !== canonical(context)) {
    throw new SealingError('context_mismatch', 'the sealed text was sealed for another place');
  }
  try {
    const { plaintext } = await compactDecrypt(jwe, key, {
      keyManagementAlgorithms: [KEY_WRAP],
      contentEncryptionAlgorithms: [ENCRYPTION],
    });
    return plaintext;
  } catch {
    throw new SealingError('undecryptable', 'the sealed text does not open');
  }
}

/**
 * The same secret under the ring's first key, for the same place. A text already under it is given back unchanged.
 *
 * @throws SealingError `unknown_kek`, `context_mismatch`, `undecryptable`
 */
export async function reseal(ring: KekRing, jwe: string, context: SealContext): Promise<string> {
  const plaintext = await open(ring, jwe, context);
  try {
    return sealedUnder(jwe) === ring.primary.kid ? jwe : await seal(ring, plaintext, context);
  } finally {
    plaintext.fill(0);
  }
}
