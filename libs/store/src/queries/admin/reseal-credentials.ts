import type { Database } from '../../database.ts';
import { credentialContext } from '../../sealing/credential-context.ts';
import { RESEAL_BATCH, type ResealReport, resealRows } from './reseal-rows.ts';
import type { ResealOptions } from './reseal-signing-keys.ts';

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Seals every provider key anew under the ring's first key; see {@link resealRows}. */
export async function resealCredentials(
  db: Database,
  { ring, onProgress }: ResealOptions,
): Promise<ResealReport> {
  return await resealRows(
    {
      async next(after = BEFORE_ALL) {
        const rows = await db.kysely
          .selectFrom('byok_credentials')
          .select(['id', 'organization_id', 'sealed_key'])
          .where('id', '>', after)
          .orderBy('id')
          .limit(RESEAL_BATCH)
          .execute();
        return rows.map((row) => ({ id: row.id, sealed: row.sealed_key, context: credentialContext(row) }));
      },
      async replace(id, former, fresh) {
        await db.kysely
          .updateTable('byok_credentials')
          .set({ sealed_key: fresh })
          .where('id', '=', id)
          .where('sealed_key', '=', former)
          .execute();
      },
    },
    ring,
    onProgress,
  );
}
