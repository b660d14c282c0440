import type { RawBuilder } from 'kysely';
import type { Handle } from '../database.ts';
import { AdminError } from './admin-error.ts';

/**
 * Runs a statement that changes or deletes what there has to be.
 *
 * @param what such as `user user_1`
 * @throws AdminError `not_found` if it affected no row
 */
export async function changeRow(
  { kysely }: Handle,
  what: string,
  statement: RawBuilder<unknown>,
): Promise<void> {
  const { numAffectedRows = 0n } = await statement.execute(kysely);
  if (numAffectedRows === 0n) throw new AdminError('not_found', `no ${what}`);
}
