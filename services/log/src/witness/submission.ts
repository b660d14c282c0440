import { parseSize } from '@ori/tlog/checkpoint';
import { HASH_BYTES, type Hash } from '@ori/tlog/merkle';
import { decodeBase64 } from '@ori/tlog/note';

/** The body of `add-checkpoint` (c2sp.org/tlog-witness). */
export interface CheckpointSubmission {
  readonly old: number;
  readonly path: readonly Hash[];
  readonly note: string;
}

const PATH_MAX = 63;

/** @returns undefined for a malformed body */
export function parseSubmission(body: string): CheckpointSubmission | undefined {
  const end = body.indexOf('\n\n');
  const [first = '', ...lines] = body.slice(0, Math.max(end, 0)).split('\n');
  const old = first.startsWith('old ') ? parseSize(first.slice('old '.length)) : undefined;
  const path = lines.map(decodeBase64);
  if (old === undefined || path.length > PATH_MAX) return undefined;
  if (!path.every((hash) => hash?.length === HASH_BYTES)) return undefined;
  return { old, path: path as Hash[], note: body.slice(end + 2) };
}
