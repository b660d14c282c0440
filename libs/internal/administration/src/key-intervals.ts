import type { Schema } from '@ori/store/schema';
import { PUBLISHED_AFTER_EXPIRY_SECONDS } from '@ori/store/signer';
import { AdminError } from '@ori/store/writes/admin-error';
import type { ExpressionBuilder, Transaction } from 'kysely';
import { nowSeconds } from './now-seconds.ts';

/** A key is published this long before it signs, in seconds, so that every verifier knows it by then. */
const PUBLISHED_BEFORE_USE_SECONDS = 180;

/** Selects keys that do not expire by that second. */
export const endsAfter = (at: number) => (eb: ExpressionBuilder<Schema, 'signing_keys'>) =>
  eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', at)]);

/** Changes of one intern's keys are serialized, so that two valid changes cannot conflict. */
export async function lockIntern(tx: Transaction<Schema>, internId: string): Promise<void> {
  const row = await tx
    .selectFrom('interns')
    .select('id')
    .where('id', '=', internId)
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) throw new AdminError('not_found', `no intern ${internId}`);
}

export async function defaultNotBefore(tx: Transaction<Schema>, internId: string): Promise<number> {
  const now = await nowSeconds(tx);
  const inUse = await tx
    .selectFrom('signing_keys')
    .select('id')
    .where('intern_id', '=', internId)
    .where('retired_at', 'is', null)
    .where('not_before', '<=', now)
    .where(endsAfter(now))
    .limit(1)
    .executeTakeFirst();
  return inUse === undefined ? now : now + PUBLISHED_BEFORE_USE_SECONDS;
}

/**
 * A proof contains no key id, so a verifier tries the keys whose interval contains its timestamp: at most this many.
 */
const KEYS_GOOD_AT_ONCE_MAX = 3;
/**
 * Rotated once a minute, an intern has 15: each key is published for 180 s before it becomes valid, 120 s while it is
 * valid and 600 s after it expired. Below the limit of the queries that read them, so that no key is omitted.
 */
const KEYS_PUBLISHED_MAX = 24;

export interface Interval {
  readonly notBefore: number;
  /** Exclusive; null means never. */
  readonly expiresAt: number | null;
}

function holds({ notBefore, expiresAt }: Interval, at: number): boolean {
  return notBefore <= at && (expiresAt === null || at < expiresAt);
}

/** The maximum number of intervals that contain the same second, which is reached at the start of one of them. */
function mostAtOnce(intervals: readonly Interval[]): number {
  const counts = intervals.map(
    ({ notBefore }) => intervals.filter((interval) => holds(interval, notBefore)).length,
  );
  return Math.max(0, ...counts);
}

/** @throws AdminError `conflict` if the intern would have more keys than verifiers try, or than may be published */
export async function requireRoomFor(
  tx: Transaction<Schema>,
  key: Interval & { readonly internId: string; readonly now: number },
): Promise<void> {
  const rows = await tx
    .selectFrom('signing_keys')
    .select(['not_before', 'expires_at'])
    .where('intern_id', '=', key.internId)
    .where('retired_at', 'is', null)
    .where(endsAfter(key.now - PUBLISHED_AFTER_EXPIRY_SECONDS))
    .execute();
  const intervals = [key, ...rows.map((row) => ({ notBefore: row.not_before, expiresAt: row.expires_at }))];
  if (mostAtOnce(intervals) > KEYS_GOOD_AT_ONCE_MAX) {
    throw new AdminError(
      'conflict',
      `at most ${KEYS_GOOD_AT_ONCE_MAX} keys of an intern may be valid at the same time`,
    );
  }
  if (intervals.length > KEYS_PUBLISHED_MAX) {
    throw new AdminError(
      'conflict',
      `at most ${KEYS_PUBLISHED_MAX} keys of an intern may be published at the same time`,
    );
  }
}
