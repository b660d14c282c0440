import { HASH_BYTES, type TreeHead } from './merkle.ts';
import { decodeBase64 } from './note.ts';
import { TlogError } from './tlog-error.ts';

/** The text of a checkpoint (c2sp.org/tlog-checkpoint): a tree head and its origin. */
export interface Checkpoint extends TreeHead {
  readonly origin: string;
}

export function renderCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\n`;
}

/**
 * Parses a checkpoint's text; extension lines are allowed and ignored.
 *
 * @throws TlogError `malformed`
 */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin, digits, base64, ...extensions] = text.replace(/\n$/, '').split('\n');
  const size = parseSize(digits ?? '');
  const root = decodeBase64(base64 ?? '');
  if (!origin || size === undefined || root?.length !== HASH_BYTES || extensions.includes('')) {
    throw new TlogError('malformed', 'not a checkpoint');
  }
  return { origin, size, root };
}

/** A tree size in decimal, without leading zeroes; undefined for any other text. */
export function parseSize(text: string): number | undefined {
  return /^(0|[1-9]\d{0,15})$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}
