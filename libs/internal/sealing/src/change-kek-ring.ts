import { randomBytes } from 'node:crypto';
import { type KekOwner, kidOf } from './kek-ring.ts';
import { type KekJwk, readRing } from './kek-ring-text.ts';
import type { KeyWrapper } from './key-wrapper.ts';

/** The text of a new ring with one random key, for a file of mode 0600. */
export function generateKekRing(owner: KekOwner): string {
  return renderRing([newKek(owner)]);
}

/**
 * The text of the ring with a random key added at the end, where it only opens.
 *
 * @throws SealingError `invalid_kek_ring`, also if the ring is full or belongs to another service
 */
export function extendKekRing(text: string, owner: KekOwner): string {
  return rewrite(text, owner, (keys) => [...keys, newKek(owner)]);
}

/** The text of the ring with the named key first, so that it seals. @throws as {@link extendKekRing} */
export function promoteKek(text: string, owner: KekOwner, kid: string): string {
  return rewrite(text, owner, (keys) => [
    ...keys.filter((key) => key.kid === kid),
    ...keys.filter((key) => key.kid !== kid),
  ]);
}

/** The text of the ring without the named key. @throws as {@link extendKekRing} */
export function removeKek(text: string, owner: KekOwner, kid: string): string {
  return rewrite(text, owner, (keys) => keys.filter((key) => key.kid !== kid));
}

function rewrite(text: string, owner: KekOwner, change: (keys: KekJwk[]) => KekJwk[]): string {
  const changed = renderRing(change(readRing(text, owner, 'either')));
  readRing(changed, owner, 'either');
  return changed;
}

function newKek(owner: KekOwner): KekJwk {
  const key = randomBytes(32);
  return { kty: 'oct', kid: kidOf(owner, key), alg: 'A256GCMKW', use: 'enc', k: key.toString('base64url') };
}

/** The text of the ring with each plain key wrapped by the KMS. @throws SealingError; KmsError */
export async function wrapKekRing(text: string, kms: KeyWrapper): Promise<string> {
  return await rewriteEach(text, async ({ k, ...key }) => {
    if (k === undefined) return key;
    const bytes = Buffer.from(k, 'base64url');
    try {
      return { ...key, wrapped: await kms.wrap(bytes) };
    } finally {
      bytes.fill(0);
    }
  });
}

/** The text of the ring with its keys in plain. @throws SealingError; KmsError */
export async function unwrapKekRing(text: string, kms: KeyWrapper): Promise<string> {
  return await rewriteEach(text, async ({ wrapped, ...key }) => {
    if (wrapped === undefined) return key;
    const bytes = await kms.unwrap(wrapped);
    try {
      return { ...key, k: bytes.toString('base64url') };
    } finally {
      bytes.fill(0);
    }
  });
}

/**
 * The text of the ring with each key as `change` returns it, one key after the other, as `openKekRing` does.
 *
 * @throws SealingError; what `change` throws
 */
async function rewriteEach(text: string, change: (key: KekJwk) => Promise<KekJwk>): Promise<string> {
  const changed: KekJwk[] = [];
  for (const key of readRing(text, undefined, 'either')) changed.push(await change(key));
  return renderRing(changed);
}

function renderRing(keys: readonly KekJwk[]): string {
  return `${JSON.stringify({ keys }, null, 2)}\n`;
}
