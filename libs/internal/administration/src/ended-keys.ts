import { isKeyDisabled, ownerHasAccess } from '@ori/store/api-keys';
import type { Database, Handle } from '@ori/store/database';
import type { ApiKeyKind } from '@ori/store/schema';
import { holdCreators } from '@ori/store/writes/api-keys';
import { type RawBuilder, sql } from 'kysely';

export interface KeyLine {
  readonly hash: string;
  readonly label: string;
  readonly kind: ApiKeyKind;
  readonly name: string;
}

/** What a change did to the keys that are accepted. */
export interface EndedKeys {
  readonly ended: readonly KeyLine[];
  readonly remaining: readonly KeyLine[];
}

/** Whose keys to follow: those of a user, or one key; and the keys that these created. */
export type KeyOrigin = { readonly userId: string } | { readonly hash: string };

/**
 * Runs a change in a transaction, and tells which of the keys of a user, or which key and those that it created, the
 * change ended, and which go on.
 */
export function endingKeys(
  db: Database,
  origin: KeyOrigin,
  change: (db: Handle) => Promise<unknown>,
): Promise<EndedKeys> {
  const from =
    'userId' in origin ? sql<boolean>`created_by = ${origin.userId}` : sql<boolean>`hash = ${origin.hash}`;
  const family = sql<boolean>`(k.hash in (select hash from api_keys where ${from})
    or k.created_by_key in (select hash from api_keys where ${from}))`;
  return db.kysely.transaction().execute(async (trx) => {
    await holdCreators({ kysely: trx }, from);
    const before = await accepted({ kysely: trx }, family);
    await change({ kysely: trx });
    const hashes = before.map(({ hash }) => hash);
    const remaining = await accepted({ kysely: trx }, sql`k.hash = any (${hashes}::text[])`);
    const goesOn = new Set(remaining.map(({ hash }) => hash));
    return { ended: before.filter(({ hash }) => !goesOn.has(hash)), remaining };
  });
}

function accepted({ kysely }: Handle, which: RawBuilder<boolean>): Promise<KeyLine[]> {
  return kysely
    .selectFrom('api_keys as k')
    .select(['k.hash', 'k.label', 'k.kind', 'k.name'])
    .where(which)
    .where(sql<boolean>`not ${isKeyDisabled} and ${ownerHasAccess}`)
    .orderBy('k.created_at')
    .orderBy('k.hash')
    .execute();
}
