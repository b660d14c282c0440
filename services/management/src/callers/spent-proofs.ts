import { drawEpoch } from '@ori/identity/dpop/nonces';
import { PROOF_KEPT_SECONDS, type SpentProofs } from '@ori/identity/dpop/spent-proofs';
import type { Statements } from '@ori/postgres/statements';

/** Each new row takes up to this many old ones with it. */
const FORGOTTEN_AT_ONCE = 4;

/** Which file of which run of which server on which timeline has them: what was lost between two of these is not known. */
const SERVER = `concat_ws(':', (select system_identifier from pg_control_system()),
  substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8), extract(epoch from pg_postmaster_start_time()), pg_relation_filepath('spent_dpop_proofs'))`;

/** `$1`: the new epoch, if proofs may have been lost since the last. No row if another process began one meanwhile. */
const EPOCH = `
  with renewed as (
    insert into dpop_epoch (server, epoch) values (${SERVER}, $1)
    on conflict (only_row) do update set server = excluded.server, epoch = excluded.epoch
    where dpop_epoch.server <> excluded.server returning epoch)
  select epoch from renewed union all select epoch from dpop_epoch where server = ${SERVER} limit 1`;

/** `$1`: the proof, 43 characters; `$2`: the epoch that its nonce carries; `$3`, `$4`: Unix seconds, when it can be spent. */
const SPEND = `
  with now as (
    select from dpop_epoch where server = ${SERVER} and epoch = $2
      and extract(epoch from now()) between $3::float8 and $4::float8),
  forgotten as (
    delete from spent_dpop_proofs where id = any(array(
      select id from spent_dpop_proofs where spent_at < now() - ${PROOF_KEPT_SECONDS} * interval '1 second'
        and exists (select from now)
      order by spent_at limit ${FORGOTTEN_AT_ONCE} for update skip locked))),
  spent as (
    insert into spent_dpop_proofs (id) select $1 from now
    on conflict do nothing returning id)
  select exists (select from now) as now, exists (select from spent) as spent`;

/** Remembers used DPoP proofs in PostgreSQL, once for all management processes. Throws `StoreUnavailable`. */
export function databaseSpentProofs(db: Statements): SpentProofs {
  let known: string | undefined;
  async function learn(): Promise<void> {
    const [row] = await db.query<{ epoch: string }>(EPOCH, [drawEpoch()]);
    if (row === undefined) return await learn();
    known = row.epoch;
  }
  return {
    epoch: () => known,
    learn,
    async spend({ id, epoch, from, until }) {
      const values = [id, epoch, from, until];
      const [row] = await db.query<{ now: boolean; spent: boolean }>(SPEND, values);
      if (!row?.now) return 'forgotten';
      return row.spent ? 'spent' : 'replayed';
    },
  };
}
