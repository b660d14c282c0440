import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { ApiKeyFacts } from '../facts.ts';
import { isKeyDisabled } from './api-keys.ts';
import { bind } from './bind.ts';
import { gateFacts } from './gate-facts.ts';
import { keksInUse } from './keks-in-use.ts';
import { keyOutlook } from './key-outlook.ts';
import { publishedKeys, signingKeys } from './signing-keys.ts';

export type { ApiKeyFacts, GateFacts, GateQuestion } from '../facts.ts';
export type { KeyOutlook } from './key-outlook.ts';
export type { PublishedKeyRow, SigningKeyRow } from './signing-keys.ts';

/**
 * All queries of the signer, under the role `ori_signer`. Each call is one round trip and throws `StoreUnavailable` if
 * there is no answer.
 */
export function signerQueries(db: Database) {
  return {
    ...bind(db, { gateFacts, signingKeys, publishedKeys, keyOutlook, keksInUse, apiKey }),
    lifecycleWrites: () => readLifecycleWrites(db),
    /** Resolves if the database answers and is migrated. */
    ping: async () => void (await readLifecycleWrites(db)),
    /** The server's clock, in milliseconds since the epoch. */
    async time() {
      const seconds = sql<{ ms: string }>`select extract(epoch from clock_timestamp()) * 1000 as ms`;
      return Number((await seconds.execute(db.kysely)).rows[0]?.ms);
    },
  };
}

export type SignerQueries = ReturnType<typeof signerQueries>;

/** Whether the operator's switch is on; see `setLifecycleWrites`. */
export async function readLifecycleWrites({ kysely }: Database): Promise<boolean> {
  const found = sql<{ enabled: boolean }>`select enabled from switches where name = 'lifecycle_writes'`;
  return (await found.execute(kysely)).rows[0]?.enabled === true;
}

/** @param hash SHA-256 of the whole key, hex */
async function apiKey(db: Database, hash: string): Promise<ApiKeyFacts | undefined> {
  return await db.kysely
    .selectFrom('api_keys')
    .select(['hash', 'kind', isKeyDisabled.as('disabled')])
    .where('hash', '=', hash)
    .executeTakeFirst();
}
