import { setTimeout } from 'node:timers/promises';
import { unavailable } from '@ori/postgres/store-unavailable';
import type { Handle } from '@ori/store/database';
import { sql } from 'kysely';
import type { Listed } from './lists.ts';

/** One change of one row, or one re-seal of many. */
export interface AuditEntry {
  /** Increases with each entry; a change that was rolled back leaves a gap. */
  readonly seq: number;
  readonly at: string;
  readonly transaction: string;
  /** The database login that made the change. */
  readonly login: string;
  /** The login, the role that `--actor` named, or `api_key:<hash>` for a change through the management service. */
  readonly actor: string;
  /** Whether the login owns the database, so that the limits of operators do not apply to it. */
  readonly break_glass: boolean;
  readonly organization_id: string | null;
  readonly table_name: string;
  readonly row_key: string;
  readonly operation: 'insert' | 'update' | 'delete' | 'reseal';
  /** For an update, only the changed columns; sealed texts are named, not copied. */
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

export interface AuditFilter {
  readonly limit: number;
  /** The cursor of the page before. */
  readonly after?: string | undefined;
  readonly actor?: string | undefined;
  readonly table?: string | undefined;
  readonly row?: string | undefined;
  readonly organizationId?: string | undefined;
  readonly breakGlass?: boolean | undefined;
}

const COLUMNS = sql`seq::int8::text as seq, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
  transaction::text, login, actor, break_glass, organization_id, table_name, row_key, operation, before, after`;

type Row = Omit<AuditEntry, 'seq'> & { readonly seq: string };
const toEntry = (row: Row): AuditEntry => ({ ...row, seq: Number(row.seq) });

/** The changes that match, newest first. */
export async function listAudit(db: Handle, filter: AuditFilter): Promise<Listed<AuditEntry>> {
  const { limit, after, actor, table, row, organizationId, breakGlass } = filter;
  const wanted = [
    ...(after === undefined ? [] : [sql`admin_audit.seq < ${after}::bigint`]),
    ...(actor === undefined ? [] : [sql`(actor = ${actor} or login = ${actor})`]),
    ...(table === undefined ? [] : [sql`table_name = ${table}`]),
    ...(row === undefined ? [] : [sql`row_key = ${row}`]),
    ...(organizationId === undefined ? [] : [sql`organization_id = ${organizationId}`]),
    ...(breakGlass ? [sql`break_glass`] : []),
  ];
  const where = wanted.length === 0 ? sql`true` : sql.join(wanted, sql` and `);
  const { rows } = await sql<Row>`
    select ${COLUMNS} from admin_audit where ${where} order by admin_audit.seq desc limit ${limit + 1}`.execute(
    db.kysely,
  );
  const shown = rows.slice(0, limit);
  const hasMore = rows.length > limit;
  return { rows: shown.map(toEntry), hasMore, ...(hasMore && { next: shown.at(-1)?.seq }) };
}

const PAGE = 1000;

/** The changes after `after` and up to `end`, oldest first. */
export async function* exportAudit(
  db: Handle,
  { after, end }: { readonly after: number; readonly end: number },
): AsyncGenerator<AuditEntry> {
  for (;;) {
    const { rows } = await sql<Row>`
      select ${COLUMNS} from admin_audit where seq > ${after} and seq <= ${end}
      order by admin_audit.seq limit ${PAGE}`.execute(db.kysely);
    yield* rows.map(toEntry);
    after = Number(rows.at(-1)?.seq ?? after);
    if (rows.length < PAGE) return;
  }
}

const WRITERS_POLL_MS = 100;
const WRITERS_WAIT_POLLS = 20;

/**
 * Where an export after `after` has to end so that no lower number can still appear. Numbers are assigned before the
 * commit, so a missing one was rolled back or belongs to a transaction in progress. Waits up to two seconds for these;
 * if they last longer, the end is before the first missing number, and `complete` is false.
 *
 * @throws StoreUnavailable `standby`, which shows no transaction in progress
 */
export async function endOfAudit(
  db: Handle,
  after: number,
): Promise<{ readonly end: number; readonly complete: boolean }> {
  const { rows } = await sql<{ end: number; standby: boolean }>`
    select coalesce(max(seq), 0)::int8 as end, pg_is_in_recovery() as standby from admin_audit`.execute(
    db.kysely,
  );
  if (rows[0]?.standby !== false) throw unavailable('standby');
  const end = Number(rows[0].end);
  let writers = await writersOfAudit(db);
  for (let poll = 0; writers.length > 0 && poll < WRITERS_WAIT_POLLS; poll++) {
    await setTimeout(WRITERS_POLL_MS);
    const now = await writersOfAudit(db);
    writers = writers.filter((id) => now.includes(id));
  }
  if (writers.length === 0) return { end, complete: true };
  const { rows: gapless } = await sql<{ end: number }>`
    select coalesce(max(seq), ${after})::int8 as end
    from (select seq, ${after} + row_number() over (order by seq) as expected from admin_audit where seq > ${after}) as a
    where seq = expected`.execute(db.kysely);
  return { end: Number(gapless[0]?.end), complete: false };
}

/** The transactions in progress that have written to the audit: each holds this lock until it ends. */
async function writersOfAudit(db: Handle): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select virtualtransaction as id from pg_locks
    where locktype = 'relation' and relation = 'admin_audit'::regclass and mode = 'RowExclusiveLock' and granted
      and database = (select oid from pg_database where datname = current_database())`.execute(db.kysely);
  return rows.map(({ id }) => id);
}

/** Any constant works if every version of this code uses the same one. */
const EXPORT_LOCK_ID = 5_204_417_836_092_271n;

/** Runs `work` in a transaction, one export of this database at a time. */
export async function whileExporting<Result>(
  db: Handle,
  work: (db: Handle) => Promise<Result>,
): Promise<Result> {
  return await db.kysely.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(EXPORT_LOCK_ID)})`.execute(tx);
    return await work({ kysely: tx });
  });
}

export interface AuditDifference {
  /** How many changes were exported. */
  readonly compared: number;
  /** Exported, but not in this database: lost by a restore, or deleted. */
  readonly missing: AuditEntry[];
  /** In both, but different. */
  readonly changed: AuditEntry[];
}

/** Compares exported entries, oldest first, with those in the database. */
export async function compareAudit(
  db: Handle,
  exported: AsyncIterable<AuditEntry> | readonly AuditEntry[],
): Promise<AuditDifference> {
  const missing: AuditEntry[] = [];
  const changed: AuditEntry[] = [];
  let compared = 0;
  for await (const page of pagesOf(exported)) {
    compared += page.length;
    const { rows } = await sql<Row>`
      select ${COLUMNS} from admin_audit where seq = any (${page.map(({ seq }) => seq)}::bigint[])`.execute(
      db.kysely,
    );
    const held = new Map(rows.map((row) => [Number(row.seq), toEntry(row)]));
    for (const entry of page) {
      const here = held.get(entry.seq);
      // A restored database reuses the numbers of lost changes for new ones.
      if (here === undefined || here.transaction !== entry.transaction || here.at !== entry.at)
        missing.push(entry);
      else if (canonical(here) !== canonical(entry)) changed.push(entry);
    }
  }
  return { compared, missing, changed };
}

async function* pagesOf(entries: AsyncIterable<AuditEntry> | readonly AuditEntry[]) {
  let page: AuditEntry[] = [];
  for await (const entry of entries) {
    if (page.length === PAGE) {
      yield page;
      page = [];
    }
    page.push(entry);
  }
  if (page.length > 0) yield page;
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
