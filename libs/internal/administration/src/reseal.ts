import { credentialContext } from '@ori/sealing/credential-context';
import type { KekOwner, KekRing } from '@ori/sealing/kek-ring';
import type { SealContext } from '@ori/sealing/open';
import { reseal, sealedPrefix, sealedUnder } from '@ori/sealing/seal';
import { SealingError } from '@ori/sealing/sealing-error';
import { seedContext } from '@ori/sealing/seed-context';
import type { Database } from '@ori/store/database';
import { type RawBuilder, sql } from 'kysely';

/** A table with a column of sealed texts, whose rows belong to what `holder` names. */
interface SealedTable {
  readonly table: string;
  readonly column: string;
  readonly idType: 'text' | 'uuid';
  readonly holder: string;
  /** The context that the text of a row is sealed to. */
  contextOf(row: { readonly id: string; readonly holder: string }): SealContext;
}

/** What the KEKs of each service seal. */
const SEALED_TABLES: Readonly<Record<KekOwner, SealedTable>> = {
  signer: {
    table: 'signing_keys',
    column: 'sealed_seed',
    idType: 'text',
    holder: 'intern_id',
    contextOf: ({ id, holder }) => seedContext({ id, internId: holder }),
  },
  management: {
    table: 'byok_credentials',
    column: 'sealed_key',
    idType: 'uuid',
    holder: 'organization_id',
    contextOf: ({ id, holder }) => credentialContext({ id, organization_id: holder }),
  },
};

const PAGE = 1000;

interface SealedRow {
  readonly id: string;
  readonly holder: string;
  readonly sealed: string;
}

/** The rows of a table that meet a condition, by id, page by page. */
async function* pagesOf(
  { kysely }: Database,
  { table, column, holder, idType }: SealedTable,
  condition: RawBuilder<unknown>,
): AsyncGenerator<SealedRow[]> {
  for (let after: string | undefined; ; ) {
    const { rows } = await sql<SealedRow>`
      select id, ${sql.ref(holder)} as holder, ${sql.ref(column)} as sealed from ${sql.table(table)}
      where ${condition} ${after === undefined ? sql`` : sql`and id > ${after}::${sql.raw(idType)}`}
      order by id limit ${PAGE}`.execute(kysely);
    yield rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.id;
  }
}

export interface ResealReport {
  readonly resealed: number;
  /** Already sealed under the first key of the ring. */
  readonly kept: number;
  /** Ids of rows that this ring does not open; left unchanged. */
  readonly failed: readonly string[];
}

/**
 * Re-seals every text of a service under the first key of the ring, those of withdrawn keys too, so that another KEK can
 * be removed from it. Safe to run while the services run, and to repeat after an interruption: a row is replaced only if
 * it is unchanged since it was read.
 *
 * @param onProgress called after each batch with the number of rows that are done, and that of all
 */
export async function resealTable(
  db: Database,
  owner: KekOwner,
  {
    ring,
    onProgress = () => {},
  }: { readonly ring: KekRing; readonly onProgress?: (done: number, total: number) => void },
): Promise<ResealReport> {
  const sealedTable = SEALED_TABLES[owner];
  const [table, column] = [sql.table(sealedTable.table), sql.ref(sealedTable.column)];
  const kek = owner === 'signer' ? sql`, kek = ${ring.primary.kid}` : sql``;
  const isFresh = sql`starts_with(${column}, ${sealedPrefix(ring.primary.kid)})`;
  const { rows: counts } = await sql<{ total: string; fresh: string }>`
    select count(*) as total, count(*) filter (where ${isFresh}) as fresh from ${table}`.execute(db.kysely);
  const [total, kept] = [Number(counts[0]?.total), Number(counts[0]?.fresh)];
  const failed: string[] = [];
  let resealed = 0;
  for await (const rows of pagesOf(db, sealedTable, sql`not ${isFresh}`)) {
    const opened: { readonly id: string; readonly former: string; readonly fresh: string }[] = [];
    for (const row of rows) {
      const fresh = await unlessUnopened(reseal(ring, row.sealed, sealedTable.contextOf(row)));
      if (fresh === undefined) failed.push(row.id);
      else opened.push({ id: row.id, former: row.sealed, fresh });
    }
    const [ids, former, fresh] = (['id', 'former', 'fresh'] as const).map((name) =>
      opened.map((row) => row[name]),
    );
    await sql`
      update ${table} as t set ${column} = v.fresh${kek}
      from unnest(${ids}::${sql.raw(sealedTable.idType)}[], ${former}::text[], ${fresh}::text[]) as v(id, former, fresh)
      where t.id = v.id and t.${column} = v.former`.execute(db.kysely);
    resealed += opened.length;
    onProgress(kept + resealed + failed.length, total);
  }
  return { resealed, kept, failed };
}

function unlessUnopened(text: Promise<string>): Promise<string | undefined> {
  return text.catch((error: unknown) => {
    if (error instanceof SealingError) return undefined;
    throw error;
  });
}

/** The number of rows of a service that are sealed under each KEK, by kid. A KEK with none can be removed from the ring. */
export async function countByKek(db: Database, owner: KekOwner): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const rows of pagesOf(db, SEALED_TABLES[owner], sql`true`)) {
    for (const { sealed } of rows) {
      const kid = kidOf(sealed);
      counts.set(kid, (counts.get(kid) ?? 0) + 1);
    }
  }
  return counts;
}

/** Texts that are not sealed texts of ours count under `?`. */
function kidOf(sealed: string): string {
  try {
    return sealedUnder(sealed);
  } catch {
    return '?';
  }
}
