import { sql } from 'kysely';
import type { Database } from '../../database.ts';

/** Longer than any server accepts a proof. */
const KEPT_SECONDS = 120;
/** Each new row takes up to this many old ones with it. */
const FORGOTTEN_AT_ONCE = 4;

/** Which run of which server on which timeline this is: what was lost between two of them is not known. */
const SERVER = sql`concat_ws(':', (select system_identifier from pg_control_system()),
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), extract(epoch from pg_postmaster_start_time()))`;

interface UsedProof {
  /** 43 characters. */
  readonly id: string;
  /** The epoch that its nonce carries. */
  readonly epoch: string;
  /** The new epoch, if a new one begins. */
  readonly fresh: string;
}

/** The epoch of this memory of used proofs; a new one, if proofs may have been lost since the last. */
export async function dpopEpoch(db: Database, fresh: string): Promise<string> {
  const { rows } = await sql<{ epoch: string }>`
    with renewed as (
      insert into dpop_epoch (server, epoch) values (${SERVER}, ${fresh})
      on conflict (only_row) do update set server = excluded.server, epoch = excluded.epoch
      where dpop_epoch.server <> excluded.server returning epoch)
    select epoch from renewed union all select epoch from dpop_epoch where server = ${SERVER} limit 1`.execute(
    db.kysely,
  );
  // Another process began the new epoch while this statement waited for it.
  return rows[0]?.epoch ?? dpopEpoch(db, fresh);
}

/** Spends a DPoP proof, once for all processes. @returns also the epoch of this memory */
export async function spendDpopProof(
  db: Database,
  { id, epoch, fresh }: UsedProof,
): Promise<{ readonly spending: 'spent' | 'replayed' | 'forgotten'; readonly epoch: string }> {
  const { rows } = await sql<{ current: string | null; spent: boolean }>`
    with here as (select epoch from dpop_epoch where server = ${SERVER}),
    forgotten as (
      delete from spent_dpop_proofs where id = any(array(
        select id from spent_dpop_proofs where spent_at < now() - ${KEPT_SECONDS} * interval '1 second'
        order by spent_at limit ${FORGOTTEN_AT_ONCE} for update skip locked))),
    spent as (
      insert into spent_dpop_proofs (id) select ${id} from here where epoch = ${epoch}
      on conflict do nothing returning id)
    select (select epoch from here) as current, exists (select from spent) as spent`.execute(db.kysely);
  const [{ current, spent } = { current: null, spent: false }] = rows;
  if (current === null) return { spending: 'forgotten', epoch: await dpopEpoch(db, fresh) };
  if (epoch !== current) return { spending: 'forgotten', epoch: current };
  return { spending: spent ? 'spent' : 'replayed', epoch: current };
}
