import type { InsertObject, Selectable } from 'kysely';
import type { Handle } from '../database.ts';
import type { Schema } from '../schema.ts';
import type { ByokCredentialsTable } from '../schema-management.ts';
import { translateConstraints } from './admin-error.ts';

/**
 * Stores a provider credential whose key is sealed to the id of the row. `applyUpdate` of `@ori/store/byok/apply-update` has the rules of
 * its fields.
 */
export async function createCredential(
  db: Handle,
  credential: InsertObject<Schema, 'byok_credentials'>,
): Promise<Selectable<ByokCredentialsTable>> {
  return await translateConstraints('BYOK credential', () =>
    db.kysely.insertInto('byok_credentials').values(credential).returningAll().executeTakeFirstOrThrow(),
  );
}
