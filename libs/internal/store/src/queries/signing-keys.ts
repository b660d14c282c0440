import type { ExpressionBuilder, Selectable } from 'kysely';
import type { Database } from '../database.ts';
import type { Schema, SigningKeysTable } from '../schema.ts';

/**
 * A proof signed in the last second of a key may be accepted this long after, in seconds: the maximum age of a
 * verifier.
 */
export const PUBLISHED_AFTER_EXPIRY_SECONDS = 600;
/** `addSigningKey` keeps an intern below this; the limit only bounds hand-written rows. */
const KEYS_READ_MAX = 32;

/** Times are Unix seconds; the interval is half-open: `notBefore <= t < expiresAt`. */
export interface PublishedKeyRow {
  readonly kid: string;
  readonly publicKey: Uint8Array;
  readonly notBefore: number;
  readonly expiresAt: number | null;
  /** Base64: the statement about this key by a role of the deployment's root (ROOTED-KEY-SETS.md). */
  readonly statement: string | null;
}

export interface SigningKeyRow extends PublishedKeyRow {
  readonly id: string;
  readonly internId: string;
  /** Opens with `seedContext`. */
  readonly sealedSeed: string;
}

/** Selects keys that do not expire by that second. */
export const endsAfter = (at: number) => (eb: ExpressionBuilder<Schema, 'signing_keys'>) =>
  eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', at)]);

/**
 * The intern's keys that are not retired, newest `notBefore` first. Also those not yet valid and expired ones, so that
 * the rows can be cached and chosen by the clock.
 */
export async function signingKeys(db: Database, internId: string): Promise<SigningKeyRow[]> {
  const rows = await keysOf(db, internId).select(['id', 'intern_id', 'sealed_seed']).orderBy('id').execute();
  return rows.map((row) => ({
    ...toPublished(row),
    id: row.id,
    internId: row.intern_id,
    sealedSeed: row.sealed_seed,
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
  const rows = await keysOf(db, internId)
    .where(endsAfter(at - PUBLISHED_AFTER_EXPIRY_SECONDS))
    .orderBy('kid')
    .execute();
  return rows.map(toPublished);
}

function keysOf(db: Database, internId: string) {
  return db.kysely
    .selectFrom('signing_keys')
    .select(['kid', 'public_key', 'not_before', 'expires_at', 'statement'])
    .where('intern_id', '=', internId)
    .where('retired_at', 'is', null)
    .orderBy('not_before', 'desc')
    .limit(KEYS_READ_MAX);
}

type KeyColumns = Pick<
  Selectable<SigningKeysTable>,
  'kid' | 'public_key' | 'not_before' | 'expires_at' | 'statement'
>;

function toPublished(row: KeyColumns): PublishedKeyRow {
  return {
    kid: row.kid,
    publicKey: new Uint8Array(row.public_key),
    notBefore: row.not_before,
    expiresAt: row.expires_at,
    statement: row.statement,
  };
}
