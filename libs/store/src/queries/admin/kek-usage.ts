import { sql } from 'kysely';
import type { Database } from '../../database.ts';
import { sealedUnder } from '../../sealing/seal.ts';

export interface KekUsage {
  readonly seeds: number;
  readonly providerKeys: number;
}

/** How much is sealed under each KEK, by kid: one that seals nothing any more can be taken out of the ring. */
export async function countByKek(db: Database): Promise<Map<string, KekUsage>> {
  const usage = new Map<string, { seeds: number; providerKeys: number }>();
  const tables = [
    ['seeds', 'signing_keys', 'sealed_seed'],
    ['providerKeys', 'byok_credentials', 'sealed_key'],
  ] as const;
  for (const [what, table, column] of tables) {
    // A header is one text for each KEK and place, so the kid is read here and not by SQL.
    const { rows } = await sql<{ header: string }>`
      select split_part(${sql.ref(column)}, '.', 1) as header from ${sql.table(table)}`.execute(db.kysely);
    for (const { header } of rows) {
      const kid = kidOf(header);
      const counts = usage.get(kid) ?? { seeds: 0, providerKeys: 0 };
      counts[what]++;
      usage.set(kid, counts);
    }
  }
  return usage;
}

/** What is no sealed text of ours counts under `?`. */
function kidOf(header: string): string {
  try {
    return sealedUnder(`${header}....`);
  } catch {
    return '?';
  }
}
