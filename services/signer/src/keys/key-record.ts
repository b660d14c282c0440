import type { PublishedKeyRow } from '@ori/store/signer';
import { LRUCache } from 'lru-cache';
import type { AuditLog } from '../effects/audit-file.ts';

/** How many recorded keys are remembered. A forgotten one is recorded again. */
const RECORDED_MAX = 100_000;

/**
 * Writes an audit line for each key before this process publishes it for the first time, so that the signing log has every
 * key that daemons may have seen. A restart records keys again.
 */
export function createKeyRecord(parts: {
  readonly audit: Pick<AuditLog, 'append'>;
  /** Milliseconds since the epoch. */
  now(): number;
}): (internId: string, keys: readonly PublishedKeyRow[]) => Promise<void> {
  const recorded = new LRUCache<string, true>({ maxSize: RECORDED_MAX, sizeCalculation: () => 1 });

  async function record(internId: string, key: PublishedKeyRow): Promise<void> {
    const { kid: keyId, publicKey, notBefore, expiresAt } = key;
    const x = Buffer.from(publicKey).toString('base64url');
    const facts = {
      event: 'key_published',
      internId,
      keyId,
      x,
      notBefore,
      expiresAt: expiresAt ?? undefined,
    };
    const id = JSON.stringify(facts);
    if (recorded.has(id)) return;
    await parts.audit.append(JSON.stringify({ time: new Date(parts.now()).toISOString(), ...facts }));
    recorded.set(id, true);
  }

  return async (internId, keys) => {
    await Promise.all(keys.map((key) => record(internId, key)));
  };
}
