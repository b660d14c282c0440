import type { Database } from '../database.ts';

/** A proof signed in a key's last second may be accepted this long after: the maximum age of a verifier. */
export const PUBLISHED_AFTER_EXPIRY_SECONDS = 600;
/** `addSigningKey` keeps an intern below this; the limit only bounds what a hand-written row can do. */
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
 * The intern's keys that are not retired, newest `notBefore` first. With `at`, those good at that second: the first
 * is the one to sign with. Without it, also those not yet good and those expired, so that the rows can be kept
 * for a while and chosen from by the clock.
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
 * The keys to publish at that second, newest first: those good now, those that will be (a key stands here before it
 * is used, so that no verifier meets it unknown), and those whose last proofs may still be judged. Retired ones are gone
 * at once. Empty for an intern that does not exist.
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
