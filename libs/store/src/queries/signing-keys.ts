import type { Database } from '../database.ts';

/**
 * A proof signed in the last second of a key may be accepted this long after, in seconds: the maximum age of a
 * verifier.
 */
export const PUBLISHED_AFTER_EXPIRY_SECONDS = 600;
/** `addSigningKey` keeps an intern below this; the limit only bounds hand-written rows. */
export const KEYS_READ_MAX = 32;

/** Times are Unix seconds; the interval is half-open: `notBefore <= t < expiresAt`. */
export interface PublishedKeyRow {
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly notBefore: number;
  readonly expiresAt: number | null;
}

export interface SigningKeyRow extends PublishedKeyRow {
  readonly id: string;
  readonly internId: string;
  /** To be opened with `seedContext`. */
  readonly sealedSeed: string;
}

/**
 * The intern's keys that are not retired, newest `notBefore` first. With `at`, only those valid at that second: sign
 * with the first. Without it, also those not yet valid and expired ones, so that the rows can be cached and chosen by
 * the clock.
 */
export async function signingKeys(
  db: Database,
  internId: string,
  options: { readonly at?: number } = {},
): Promise<SigningKeyRow[]> {
  let query = db.kysely
    .selectFrom('signing_keys')
    .select(['id', 'intern_id', 'kid', 'public_key', 'sealed_seed', 'not_before', 'expires_at'])
    .where('intern_id', '=', internId)
    .where('retired_at', 'is', null);
  const { at } = options;
  if (at !== undefined) {
    query = query
      .where('not_before', '<=', at)
      .where((where) => where.or([where('expires_at', 'is', null), where('expires_at', '>', at)]));
  }
  const rows = await query.orderBy('not_before', 'desc').orderBy('id').limit(KEYS_READ_MAX).execute();
  return rows.map((row) => ({
    id: row.id,
    internId: row.intern_id,
    kid: row.kid,
    publicKey: new Uint8Array(row.public_key),
    sealedSeed: row.sealed_seed,
    notBefore: row.not_before,
    expiresAt: row.expires_at,
  }));
}

/**
 * The keys to publish at that second, newest first: valid ones, future ones (a key is published before it is used, so
 * that every verifier knows it), and expired ones whose last proofs may still be verified. Retired ones are removed
 * immediately. Empty for an intern that does not exist.
 */
export async function publishedKeys(
  db: Database,
  internId: string,
  { at }: { at: number },
): Promise<PublishedKeyRow[]> {
  const rows = await db.kysely
    .selectFrom('signing_keys')
    .select(['kid', 'public_key', 'not_before', 'expires_at'])
    .where('intern_id', '=', internId)
    .where('retired_at', 'is', null)
    .where((where) =>
      where.or([
        where('expires_at', 'is', null),
        where('expires_at', '>', at - PUBLISHED_AFTER_EXPIRY_SECONDS),
      ]),
    )
    .orderBy('not_before', 'desc')
    .orderBy('kid')
    .limit(KEYS_READ_MAX)
    .execute();
  return rows.map((row) => ({
    kid: row.kid,
    publicKey: new Uint8Array(row.public_key),
    notBefore: row.not_before,
    expiresAt: row.expires_at,
  }));
}
