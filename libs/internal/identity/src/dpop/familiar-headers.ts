import { LRUCache } from 'lru-cache';
import type { ProofKey } from './proof-keys.ts';

const SESSIONS_MAX = 10_000;

/** The header and key of each session's last verified proof. The next proof usually has the same header, so it is not parsed again. */
export interface FamiliarHeaders {
  /** @returns undefined unless the header is that of the last verified proof */
  keyOf(thumbprint: string, header: string): ProofKey | undefined;
  /** Call it for verified proofs only. */
  remember(header: string, key: ProofKey): void;
}

export function createFamiliarHeaders(): FamiliarHeaders {
  const known = new LRUCache<string, { readonly header: string; readonly key: ProofKey }>({
    max: SESSIONS_MAX,
  });
  return {
    keyOf(thumbprint, header) {
      const last = known.get(thumbprint);
      return last?.header === header ? last.key : undefined;
    },
    remember: (header, key) => void known.set(key.thumbprint, { header, key }),
  };
}
