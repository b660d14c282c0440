import { decodeAnswer, encodeCommitments, LOOKUP_MAX, type LookupAnswer } from '../lookup.ts';
import {
  consistencyProof,
  type Hash,
  inclusionProof,
  leafHash,
  type TreeHead,
  verifyConsistency,
  verifyInclusion,
} from '../merkle.ts';
import { NOTE_BYTES_MAX } from '../note.ts';
import { type Policy, requireTrusted, type TrustedCheckpoint } from '../policy.ts';
import { readEntries, TILE_WIDTH, tilePath, tileWidth } from '../tile.ts';
import { TlogError } from '../tlog-error.ts';
import { fetchLog, type LogTransport } from './fetch-log.ts';
import { type Remembered, rememberInMemory } from './remembered.ts';
import { createTileCache } from './tile-cache.ts';

export { fetchLog, type LogTransport, readBounded } from './fetch-log.ts';
export { type Remembered, rememberInFile, rememberInMemory } from './remembered.ts';

const ANSWER_BYTES_MAX = 1024 * 1024;
/** 256 entries of the longest kind. */
const BUNDLE_BYTES_MAX = 256 * 65_537;
const TIMEOUT_MS = 5000;
const LENIENT = { isQuorum: () => true, requireMlDsa: false };
/** A signed note among several: text, an empty line, signatures. */
const NOTE = /(?:[^\n]+\n)+\n(?:— [^\n]+\n)+/g;

export interface LogClientOptions {
  readonly policy: Policy;
  /** The log's prefix; by default the address of the first log of the policy that has one. */
  readonly url?: string | undefined;
  readonly remembered?: Remembered | undefined;
  readonly timeoutMs?: number | undefined;
  readonly transport?: LogTransport | undefined;
}

/** A leaf that a log claims to have. */
export interface ClaimedLeaf {
  readonly index: number;
  readonly entry: Uint8Array;
}

/**
 * Reads a log and verifies everything that it returns, except `lookup`.
 *
 * @throws TypeError without an address
 */
export function createLogClient(options: LogClientOptions) {
  const { policy, remembered = rememberInMemory(), timeoutMs = TIMEOUT_MS } = options;
  const url = options.url ?? policy.logs.find((log) => log.url !== undefined)?.url;
  if (url === undefined && options.transport === undefined) {
    throw new TypeError('the policy has no address of the log, and none was given');
  }
  const transport = options.transport ?? fetchLog(url ?? '', timeoutMs);
  const tiles = createTileCache(transport);
  /** The last checkpoint trusted, by origin: the logs of a policy do not vouch for each other. */
  let known: Map<string, TrustedCheckpoint> | undefined;
  let asking: Promise<TrustedCheckpoint> | undefined;

  async function requireExtension(former: TrustedCheckpoint, latest: TrustedCheckpoint): Promise<void> {
    const [first, second] = former.size <= latest.size ? [former, latest] : [latest, former];
    const rolledBack = () =>
      new TlogError('rolled_back', `a smaller tree than before:\n${former.note}\n${latest.note}`);
    const path = await tiles
      .compute(
        second.size,
        (subtrees) => consistencyProof(first.size, second.size, subtrees),
        (proof) => verifyConsistency(first, second, proof),
      )
      .catch((error) => {
        // A log that was rolled back lacks tiles of the larger tree. The two checkpoints are evidence even without them.
        throw second === former && error instanceof TlogError ? rolledBack() : error;
      });
    if (path === undefined) {
      throw new TlogError('inconsistent', `two contradictory trees:\n${former.note}\n${latest.note}`);
    }
    if (latest.size < former.size) throw rolledBack();
  }

  /** The inclusion proof of a leaf in a trusted tree. @throws TlogError `inclusion_invalid`, `malformed`, `unavailable` */
  async function prove({ index, entry }: ClaimedLeaf, head: TreeHead): Promise<readonly Hash[]> {
    if (index >= head.size) throw new TlogError('inclusion_invalid', `leaf ${index} is beyond the tree`);
    const path = await tiles.compute(
      head.size,
      (subtrees) => inclusionProof(index, head.size, subtrees),
      (proof) => verifyInclusion({ index, ...head }, leafHash(entry), proof),
    );
    if (path === undefined) {
      throw new TlogError(
        'inclusion_invalid',
        `the log's inclusion proof for leaf ${index} does not match its root`,
      );
    }
    return path;
  }

  /**
   * Those of the policy's logs. Not checked against its quorum again, nor for ML-DSA-44: it may have demanded less when they
   * were saved.
   */
  async function load(): Promise<Map<string, TrustedCheckpoint>> {
    const text = await remembered.load();
    if (text === undefined) return new Map();
    const notes = text.match(NOTE);
    if (notes?.join('\n') !== text) {
      const next = 'restore them, or delete them and trust the log anew';
      throw new TlogError('signature_invalid', `the remembered checkpoints are damaged: ${next}`);
    }
    const trusted = notes
      .filter((note) => policy.logs.some(({ key }) => note.startsWith(`${key.name}\n`)))
      .map((note) => requireTrusted(note, { ...policy, ...LENIENT }));
    return new Map(trusted.map((checkpoint) => [checkpoint.origin, checkpoint]));
  }

  async function ask(): Promise<TrustedCheckpoint> {
    const bytes = await transport.get('checkpoint', NOTE_BYTES_MAX);
    if (bytes === undefined) throw new TlogError('unavailable', 'the log has no checkpoint');
    const latest = requireTrusted(Buffer.from(bytes).toString(), policy);
    known ??= await load();
    const former = known.get(latest.origin);
    if (former !== undefined) await requireExtension(former, latest);
    if (former?.note !== latest.note) {
      const next = new Map(known).set(latest.origin, latest);
      await remembered.save([...next.values()].map(({ note }) => note).join('\n'));
      known = next;
    }
    return latest;
  }

  return {
    /**
     * The latest checkpoint: trusted by the policy, and consistent with every one that this client ever trusted.
     *
     * @throws TlogError `unavailable`, `malformed`, `signature_invalid`, `quorum_missing`; `inconsistent` and `rolled_back`,
     *   whose message holds both notes: they are the evidence
     */
    latest(): Promise<TrustedCheckpoint> {
      // One at a time: an answer that a later one overtook would look like a smaller tree.
      asking ??= ask().finally(() => {
        asking = undefined;
      });
      return asking;
    },
    /** The leaves that the log claims for commitments, by hex; unknown ones are absent. Not verified. */
    async lookup(commitments: readonly Hash[]): Promise<ReadonlyMap<string, ClaimedLeaf>> {
      const leaves = new Map<string, ClaimedLeaf>();
      for (let at = 0; at < commitments.length; at += LOOKUP_MAX) {
        const batch = encodeCommitments(commitments.slice(at, at + LOOKUP_MAX));
        const bytes = await transport.post('lookup', batch, ANSWER_BYTES_MAX);
        const answer: LookupAnswer | undefined = decodeAnswer(Buffer.from(bytes).toString());
        if (answer === undefined) throw new TlogError('malformed', 'not an answer to a lookup');
        for (const [commitment, { index, entry }] of Object.entries(answer.found)) {
          leaves.set(commitment, { index, entry: Buffer.from(entry, 'hex') });
        }
      }
      return leaves;
    },
    prove,
    /** The entries of one bundle, each proven to be in the tree. @throws as `prove` */
    async bundle(index: number, head: TreeHead): Promise<readonly Uint8Array[]> {
      const width = tileWidth('entries', index, head.size);
      const tile = { level: 'entries', index, width } as const;
      const bytes =
        (await transport.get(tilePath(tile), BUNDLE_BYTES_MAX)) ??
        (await transport.get(tilePath({ ...tile, width: TILE_WIDTH }), BUNDLE_BYTES_MAX));
      if (bytes === undefined) throw new TlogError('unavailable', `the log has no ${tilePath(tile)}`);
      const entries = readEntries(bytes).slice(0, width);
      for (const [at, entry] of entries.entries())
        await prove({ index: index * TILE_WIDTH + at, entry }, head);
      if (entries.length !== width) throw new TlogError('malformed', `a bundle is not ${width} entries`);
      return entries;
    },
  };
}

export type LogClient = ReturnType<typeof createLogClient>;
