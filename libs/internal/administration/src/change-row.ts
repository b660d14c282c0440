import type { Handle } from '@ori/store/database';
import { AdminError } from '@ori/store/writes/admin-error';
import type { RawBuilder } from 'kysely';

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
