import { sql } from 'kysely';
import type { Database } from '../database.ts';
import type { ApiKeyKind } from '../schema.ts';
import { type GateFacts, type GateQuestion, gateFacts } from './gate-facts.ts';
import { type KeyOutlook, keyOutlook } from './key-outlook.ts';
import { type PublishedKeyRow, publishedKeys, type SigningKeyRow, signingKeys } from './signing-keys.ts';

export type { GateFacts, GateQuestion } from './gate-facts.ts';
export type { KeyOutlook } from './key-outlook.ts';
export type { PublishedKeyRow, SigningKeyRow } from './signing-keys.ts';

/** The kinds of API keys. Treat a disabled key like an unknown one. */
export interface ApiKeyFacts {
  readonly hash: string;
  readonly kind: ApiKeyKind;
  readonly disabled: boolean;
}

/** All queries of the signer. Each call is one round trip and throws `StoreUnavailable` if there is no answer. */
export interface SignerQueries {
  gateFacts(question: GateQuestion): Promise<GateFacts>;
  signingKeys(internId: string): Promise<SigningKeyRow[]>;
  publishedKeys(internId: string, options: { readonly at: number }): Promise<PublishedKeyRow[]>;
  keyOutlook(options: { readonly at: number }): Promise<KeyOutlook>;
  /** @param hash SHA-256 of the whole key, hex */
  apiKey(hash: string): Promise<ApiKeyFacts | undefined>;
  /** Resolves if the database answers and is migrated. */
  ping(): Promise<void>;
  /** The server's clock, in milliseconds since the epoch. */
  time(): Promise<number>;
}

/** The signer's queries, under the role `ori_signer`. */
export function signerQueries(db: Database): SignerQueries {
  return {
    gateFacts: (question) => gateFacts(db, question),
    signingKeys: (internId) => signingKeys(db, internId),
    publishedKeys: (internId, options) => publishedKeys(db, internId, options),
    keyOutlook: (options) => keyOutlook(db, options),
    apiKey: (hash) => apiKey(db, hash),
    ping: async () => {
      await sql`select enabled from switches where name = 'lifecycle_writes'`.execute(db.kysely);
    },
    async time() {
      const seconds = sql<{ ms: string }>`select extract(epoch from clock_timestamp()) * 1000 as ms`;
      return Number((await seconds.execute(db.kysely)).rows[0]?.ms);
    },
  };
}

async function apiKey(db: Database, hash: string): Promise<ApiKeyFacts | undefined> {
  const row = await db.kysely
    .selectFrom('api_keys')
    .select(['hash', 'kind', 'disabled_at'])
    .where('hash', '=', hash)
    .executeTakeFirst();
  return row === undefined
    ? undefined
    : { hash: row.hash, kind: row.kind, disabled: row.disabled_at !== null };
}
