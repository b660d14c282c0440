import { parseSize } from './checkpoint.ts';
import { HASH_BYTES, type Hash, leafHash, verifyInclusion } from './merkle.ts';
import { decodeBase64 } from './note.ts';
import { type Policy, requireTrusted, type TrustedCheckpoint } from './policy.ts';
import { TlogError } from './tlog-error.ts';

/** An offline-verifiable proof that an entry is in a log (c2sp.org/tlog-proof). */
export interface TlogProof {
  /** Not authenticated by itself; here the entry, whose hash is the leaf. */
  readonly extra: Uint8Array | undefined;
  readonly index: number;
  readonly path: readonly Hash[];
  /** The checkpoint, a signed note. */
  readonly note: string;
}

const FIRST_LINE = 'c2sp.org/tlog-proof@v1';
const PATH_MAX = 63;

export function renderTlogProof({ extra, index, path, note }: TlogProof): string {
  const lines = [
    FIRST_LINE,
    ...(extra === undefined ? [] : [`extra ${Buffer.from(extra).toString('base64')}`]),
    `index ${index}`,
    ...path.map((hash) => Buffer.from(hash).toString('base64')),
  ];
  return `${lines.join('\n')}\n\n${note}`;
}

/** @throws TlogError `malformed` */
export function parseTlogProof(text: string): TlogProof {
  const end = text.indexOf('\n\n');
  const [first, ...lines] = text.slice(0, Math.max(end, 0)).split('\n');
  const extraLine = lines[0]?.startsWith('extra ') ? lines.shift() : undefined;
  const extra = extraLine === undefined ? undefined : decodeBase64(extraLine.slice('extra '.length));
  const [, digits = ''] = /^index (\d+)$/.exec(lines.shift() ?? '') ?? [];
  const index = parseSize(digits);
  const path = lines.map(decodeBase64);
  if (
    first !== FIRST_LINE ||
    index === undefined ||
    (extraLine !== undefined && extra === undefined) ||
    path.length > PATH_MAX ||
    !path.every((hash) => hash?.length === HASH_BYTES)
  ) {
    throw new TlogError('malformed', 'not a .tlog-proof file');
  }
  return { extra, index, path: path as Hash[], note: text.slice(end + 2) };
}

/**
 * Verifies that `entry` is in a log that the policy trusts, offline, with only the file and the policy.
 *
 * @throws TlogError `malformed`, `signature_invalid`, `quorum_missing`, `inclusion_invalid`
 */
export function verifyTlogProof(proof: TlogProof, entry: Uint8Array, policy: Policy): TrustedCheckpoint {
  const checkpoint = requireTrusted(proof.note, policy);
  if (!verifyInclusion({ index: proof.index, ...checkpoint }, leafHash(entry), proof.path)) {
    throw new TlogError(
      'inclusion_invalid',
      `the entry is not leaf ${proof.index} of this checkpoint's tree`,
    );
  }
  return checkpoint;
}
