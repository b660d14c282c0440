import type { ExpressionBuilder, Transaction } from 'kysely';
import type { Schema } from '../../schema.ts';
import { AdminError } from './admin-error.ts';
import { nowSeconds } from './ids.ts';

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
  const now = nowSeconds();
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
