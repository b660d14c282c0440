import type { SignerQueries } from '@ori/store/signer';
import { DependencyError } from '../core/dependency-error.ts';
import type { GateQuestion } from '../core/sign-proof.ts';
import { createTtlCache } from './ttl-cache.ts';

/** How long facts of the database are cached: a revocation takes effect within two seconds. */
const REMEMBERED_MS = 1000;
/** How long published keys are cached: a verifier that fetches every second learns of a revocation within two. */
const PUBLISHED_KEYS_MS = 250;
const ENTRIES_MAX = 50_000;

export interface StoreCacheOptions {
  readonly store: SignerQueries;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onLookup?: (cache: 'gate' | 'keys', hit: boolean) => void;
}

/** All queries of the signer, with answers cached for at most a second. */
export function createStoreCache({ store, now, onLookup }: StoreCacheOptions) {
  const limits = { ttlMs: REMEMBERED_MS, entriesMax: ENTRIES_MAX };
  const gateFacts = createTtlCache({
    ...limits,
    load: (key: string) => {
      const [issuer, subject, internId] = JSON.parse(key) as [string, string, string];
      return orUnavailable(store.gateFacts({ issuer, subject, internId }));
    },
    onLookup: (hit) => onLookup?.('gate', hit),
  });
  const apiKey = createTtlCache({
    ...limits,
    load: async (hash: string) => {
      const facts = await orUnavailable(store.apiKey(hash));
      return facts === undefined ? {} : { apiKey: facts };
    },
  });
  return {
    gate: {
      facts({ issuer, subject, internId }: GateQuestion) {
        return internId === undefined ? undefined : gateFacts(JSON.stringify([issuer, subject, internId]));
      },
    },
    apiKey,
    signingKeys: createTtlCache({
      ...limits,
      load: (internId: string) => orUnavailable(store.signingKeys(internId)),
      onLookup: (hit) => onLookup?.('keys', hit),
    }),
    publishedKeys: createTtlCache({
      ...limits,
      ttlMs: PUBLISHED_KEYS_MS,
      load: (internId: string) =>
        orUnavailable(store.publishedKeys(internId, { at: Math.floor(now() / 1000) })),
    }),
    /** @throws StoreUnavailable */
    check: (): Promise<void> => store.ping(),
  };
}

function orUnavailable<T>(answer: Promise<T>): Promise<T> {
  return answer.catch((cause) => {
    throw new DependencyError('postgresql', 'the database did not answer', { cause });
  });
}
