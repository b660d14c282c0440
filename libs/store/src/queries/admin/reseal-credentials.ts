import { sql } from 'kysely';
import type { Database } from '../../database.ts';
import { credentialContext } from '../../sealing/credential-context.ts';
import { RESEAL_BATCH, type ResealReport, resealRows } from './reseal-rows.ts';
import { columnsOf, countRows, type ResealOptions } from './reseal-signing-keys.ts';

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/** Re-seals every provider key under the first key of the ring; see {@link resealRows}. */
export async function resealCredentials(
  db: Database,
  { ring, onProgress }: ResealOptions,
): Promise<ResealReport> {
  return await resealRows(
    {
      count: () => countRows(db, 'byok_credentials'),
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
      async replace(resealed) {
        const { ids, former, fresh } = columnsOf(resealed);
        await sql`
          update byok_credentials as c set sealed_key = v.fresh
          from unnest(${ids}::uuid[], ${former}::text[], ${fresh}::text[]) as v(id, former, fresh)
          where c.id = v.id and c.sealed_key = v.former`.execute(db.kysely);
      },
    },
    ring,
    onProgress,
  );
}
