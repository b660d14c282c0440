import { createHash } from 'node:crypto';

export const entryOf = (index: number) => Buffer.from(`entry ${index}`);

export const digest = (...parts: readonly (string | Uint8Array)[]) => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** The Merkle Tree Hash of the entries `from` to `to`, as RFC 6962, section 2.1, writes it. */
export function mth(from: number, to: number): Buffer {
  if (to === from) return digest();
  if (to - from === 1) return digest('\0', entryOf(from));
  let k = 1;
  while (k * 2 < to - from) k *= 2;
  return digest('\x01', mth(from, from + k), mth(from + k, to));
}
