import { sql } from 'kysely';
import type { Database } from '../database.ts';

/** A prefix of a sealed text: long enough for the `kid` of a KEK that names its service, too short for the id of a row. */
const HEAD_CHARACTERS = 96;
const KEKS_MAX = 100;

/**
 * The KEKs under which signing keys are sealed that are not withdrawn. Reads one entry of the index `signing_keys_kek`
 * per KEK. A `kid` longer than those that `ori-admin` generates may be truncated.
 */
export async function keksInUse(db: Database): Promise<string[]> {
  const head = sql`left(sealed_seed, ${sql.lit(HEAD_CHARACTERS)})`;
  const { rows } = await sql<{ head: string }>`
    with recursive kek (head) as (
      (select ${head} from signing_keys where retired_at is null order by 1 limit 1)
      union all
      select (select ${head} from signing_keys where retired_at is null and ${head} > kek.head order by 1 limit 1)
      from kek where kek.head is not null
    )
    select head from kek where head is not null limit ${sql.lit(KEKS_MAX)}`.execute(db.kysely);
  return [...new Set(rows.map((row) => kidIn(row.head)))].filter((kid) => kid !== '');
}

/** Empty for a text that is not sealed: a damaged row must not count as a KEK. */
function kidIn(head: string): string {
  return /"kid":"([^"]*)/.exec(Buffer.from(head, 'base64url').toString())?.[1] ?? '';
}
