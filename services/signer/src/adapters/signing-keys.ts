import { createSigningKey, type SigningKey, selfTest } from '@ori/proof/signing';
import { type KekRing, open, seedContext } from '@ori/store/sealing';
import type { SigningKeyRow } from '@ori/store/signer';
import { LRUCache } from 'lru-cache';
import { chooseKeys } from '../stages/choose-keys.ts';
import type { UnlockableKey } from '../stages/unlock-key.ts';

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
export function createSigningKeys(options: SigningKeysOptions): {
  unlock(internId: string): Promise<UnlockableKey>;
} {
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

  async function openOnce(row: SigningKeyRow): Promise<UnlockableKey> {
    const known = opened.get(row.id);
    if (known !== undefined && isSame(known.row, row)) {
      if (known.key !== undefined || known.revision === ring.revision) return known.key;
    }
    const { revision } = ring;
    const key = await load(row).catch((error: unknown) => {
      onUnusable?.(row, error);
      return undefined;
    });
    opened.set(row.id, { row, key, revision });
    return key;
  }

  return {
    async unlock(internId) {
      for (const row of chooseKeys(await rows(internId), Math.floor(now() / 1000))) {
        if (onlyStated && row.statement === null) continue;
        const key = await openOnce(row);
        if (key !== undefined) return key;
      }
      return undefined;
    },
  };
}

function isSame(a: SigningKeyRow, b: SigningKeyRow): boolean {
  return (
    a === b ||
    (a.sealedSeed === b.sealedSeed && a.kid === b.kid && Buffer.compare(a.publicKey, b.publicKey) === 0)
  );
}
