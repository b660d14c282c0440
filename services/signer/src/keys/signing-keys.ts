import { createSigningKey, type SigningKey, selfTest } from '@ori/proof/signing';
import type { KekRing } from '@ori/sealing/kek-ring';
import { open } from '@ori/sealing/open';
import { seedContext } from '@ori/sealing/seed-context';
import type { SigningKeyRow } from '@ori/store/signer';
import { LRUCache } from 'lru-cache';
import type { SigningParts } from '../core/sign-proof.ts';
import { chooseKeys } from '../core/stages/choose-keys.ts';
import type { UnlockableKey } from '../core/stages/unlock-key.ts';

const OPENED_KEYS_MAX = 20_000;

export interface SigningKeysOptions {
  readonly rows: (internId: string) => readonly SigningKeyRow[] | Promise<readonly SigningKeyRow[]>;
  /** Whether daemons accept only keys with a statement, so that only these may sign. */
  readonly onlyStated?: boolean;
  readonly ring: KekRing;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Called once per row that cannot be opened or does not match its public key, for the log. */
  readonly onUnusable?: (row: SigningKeyRow, error: unknown) => void;
}

interface Opened {
  readonly row: SigningKeyRow;
  /** The generation of the ring: a later one may open more rows. */
  readonly revision: number;
  readonly key: UnlockableKey;
}

/**
 * Opens the signing keys of interns. Each row is opened once: unsealed for its row and intern, admitted, and tested against
 * the published half. The key to sign with is chosen at each call.
 */
export function createSigningKeys(options: SigningKeysOptions): SigningParts['keys'] {
  const { rows, onlyStated = false, ring, now, onUnusable } = options;
  const opened = new LRUCache<string, Opened>({ max: OPENED_KEYS_MAX });

  async function load(row: SigningKeyRow): Promise<SigningKey> {
    const seed = await open(ring, row.sealedSeed, seedContext(row));
    try {
      const key = createSigningKey(seed);
      selfTest(key, row.publicKey);
      return key;
    } finally {
      seed.fill(0);
    }
  }

  /** The outcome of opening this row before; undefined if it must be opened now. */
  function recall(row: SigningKeyRow): Opened | undefined {
    const known = opened.get(row.id);
    if (known === undefined || !isSame(known.row, row)) return undefined;
    return known.key !== undefined || known.revision === ring.revision ? known : undefined;
  }

  async function openOnce(row: SigningKeyRow): Promise<UnlockableKey> {
    const known = recall(row);
    if (known !== undefined) return known.key;
    const { revision } = ring;
    const key = await load(row).catch((error: unknown) => {
      onUnusable?.(row, error);
      return undefined;
    });
    opened.set(row.id, { row, key, revision });
    return key;
  }

  async function openFirst(candidates: readonly SigningKeyRow[]): Promise<UnlockableKey> {
    for (const row of candidates) {
      const key = await openOnce(row);
      if (key !== undefined) return key;
    }
    return undefined;
  }

  function unlockOf(published: readonly SigningKeyRow[]): UnlockableKey | Promise<UnlockableKey> {
    const stated = onlyStated ? published.filter(({ statement }) => statement !== null) : published;
    const candidates = chooseKeys(stated, Math.floor(now() / 1000));
    const newest = candidates[0];
    return (newest && recall(newest)?.key) ?? openFirst(candidates);
  }

  return {
    unlock(internId) {
      const published = rows(internId);
      return published instanceof Promise ? published.then(unlockOf) : unlockOf(published);
    },
  };
}

function isSame(a: SigningKeyRow, b: SigningKeyRow): boolean {
  return (
    a === b ||
    (a.internId === b.internId &&
      a.sealedSeed === b.sealedSeed &&
      a.kid === b.kid &&
      Buffer.compare(a.publicKey, b.publicKey) === 0)
  );
}
