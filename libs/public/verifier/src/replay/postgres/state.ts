import { RETENTION_SECONDS_MAX } from '../times.ts';
import { SCHEMA_VERSION } from './tables.ts';

/** Each time writes the ledger, whose former rows every spend walks through while an open snapshot keeps them. */
const FORGET_APART_SECONDS = 30;

/** Functions run as the owner of the schema, so a daemon's role needs no table privileges. Unqualified names resolve in pg_catalog only. */
export const OWNED = `LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp`;

/**
 * The server's clock; its timeline and start; and what identifies it: these, after the cluster's identifier. PostgreSQL reads that from a
 * file each time, a fifth of a spend, so spends leave it to `touch`: another cluster has another start, too.
 */
const IDENTITY = `
CREATE OR REPLACE FUNCTION ori_replay.clock() RETURNS double precision LANGUAGE sql VOLATILE
AS $$ SELECT pg_catalog.date_part('epoch', pg_catalog.clock_timestamp()) $$;

CREATE OR REPLACE FUNCTION ori_replay.run() RETURNS text LANGUAGE sql VOLATILE
AS $$ SELECT pg_catalog.concat_ws(':',
  pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8),
  extract(epoch FROM pg_catalog.pg_postmaster_start_time())) $$;

CREATE OR REPLACE FUNCTION ori_replay.identity() RETURNS text LANGUAGE sql VOLATILE
AS $$ SELECT pg_catalog.concat_ws(':', (SELECT system_identifier FROM pg_catalog.pg_control_system()), ori_replay.run()) $$;
`;

/** Why this server cannot be trusted to keep spends, or null. Its callers have the owner's rights and names already: having them again costs. */
const UNSAFE = `
CREATE OR REPLACE FUNCTION ori_replay.unsafe(verifier_now double precision, tolerance integer, acks integer)
RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  names text := current_setting('synchronous_standby_names');
BEGIN
  IF pg_is_in_recovery() THEN RETURN 'the server is a standby'; END IF;
  IF current_setting('transaction_isolation') <> 'read committed' THEN RETURN 'transactions are not read committed'; END IF;
  IF current_setting('transaction_read_only') <> 'off' THEN RETURN 'transactions are read-only'; END IF;
  IF current_setting('fsync') <> 'on' THEN RETURN 'fsync is off'; END IF;
  IF current_setting('full_page_writes') <> 'on' THEN RETURN 'full_page_writes is off'; END IF;
  IF current_setting('zero_damaged_pages') <> 'off' THEN RETURN 'zero_damaged_pages is on'; END IF;
  IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN
    RETURN 'synchronous_commit is ' || current_setting('synchronous_commit');
  END IF;
  IF acks > 0 AND acks > (CASE WHEN names = '' THEN 0
    ELSE coalesce((regexp_match(names, '^\\s*(?:any|first)?\\s*(\\d+)\\s*\\(', 'i'))[1]::integer, 1) END)
  THEN RETURN 'synchronous_standby_names waits for too few standbys'; END IF;
  IF abs(ori_replay.clock() - verifier_now) > greatest(tolerance, 1) THEN RETURN 'the clocks are apart'; END IF;
  RETURN NULL;
END $$;
`;

/**
 * Detects what a spend cannot handle: another run of the server, another timeline, a log position that went back, an
 * emptied table, or a loss that this verifier knows of and the server does not. Before it writes that, it waits for
 * every spend in progress and blocks new ones, so that the state that a spend was checked against is still true when it commits.
 * Of a process that keeps answers, the runner, it is a sign of life. It costs the same however much was forgotten: an index keeps what was
 * deleted for as long as one snapshot is open anywhere, so what is due is looked for from what was forgotten last.
 */
const TOUCH = `
CREATE OR REPLACE FUNCTION ori_replay.touch(
  intern text, accept_v1 boolean, verifier_now double precision, known_event double precision, known_identity text, known_lsn text,
  tolerance integer, acks integer, wait_ms integer, runner text,
  OUT verdict text, OUT detail text, OUT event double precision, OUT identity text, OUT lsn text, OUT due boolean, OUT version integer)
${OWNED} AS $$
DECLARE
  book ori_replay.ledger;
  is_lost boolean;
BEGIN
  verdict := 'unsafe';
  detail := ori_replay.unsafe(verifier_now, tolerance, acks);
  IF detail IS NOT NULL THEN RETURN; END IF;
  PERFORM set_config('lock_timeout', wait_ms::text, true);
  IF EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = 'ori_replay'::regnamespace AND c.relkind = 'r' AND c.relpersistence <> 'p')
  THEN detail := 'a table is unlogged'; RETURN; END IF;
  FOR attempt IN 1..2 LOOP
    SELECT * INTO book FROM ori_replay.ledger l;
    identity := ori_replay.identity();
    lsn := pg_current_wal_insert_lsn()::text;
    is_lost := book.identity IS DISTINCT FROM identity OR book.event < known_event
      OR (known_identity = identity AND lsn::pg_lsn < known_lsn::pg_lsn)
      OR book.file IS DISTINCT FROM pg_relation_filenode('ori_replay.spent');
    EXIT WHEN NOT (is_lost OR (accept_v1 AND NOT EXISTS (SELECT FROM ori_replay.v1 v WHERE v.intern_id = intern)));
    IF attempt = 1 THEN
      PERFORM set_config('synchronous_commit', 'on', true);
      LOCK TABLE ori_replay.ledger IN EXCLUSIVE MODE;
      CONTINUE;
    END IF;
    IF is_lost THEN
      book.event := greatest(ori_replay.clock(), verifier_now, known_event, book.event + 0.001);
      UPDATE ori_replay.ledger l
        SET identity = ori_replay.identity(), event = book.event, file = pg_relation_filenode('ori_replay.spent');
    END IF;
    IF accept_v1 THEN
      INSERT INTO ori_replay.v1 VALUES (intern, greatest(ori_replay.clock(), verifier_now,
        (SELECT max(s.stamped) FROM ori_replay.spent s WHERE s.intern_id = intern AND s.stamped > ori_replay.clock())))
        ON CONFLICT DO NOTHING;
    END IF;
  END LOOP;
  IF runner IS NOT NULL THEN
    INSERT INTO ori_replay.process AS p VALUES (runner, ori_replay.clock()) ON CONFLICT (process) DO UPDATE SET seen = excluded.seen;
  END IF;
  verdict := 'touched';
  version := ${SCHEMA_VERSION};
  event := book.event;
  due := (SELECT min(s.stamped) FROM ori_replay.spent s WHERE s.stamped >= book.floor)
      <= ori_replay.clock() - ${RETENTION_SECONDS_MAX + FORGET_APART_SECONDS}
    OR (SELECT min(a.until) FROM ori_replay.answer a WHERE a.until >= book.answers) < ori_replay.clock() - ${FORGET_APART_SECONDS};
END $$;
`;

/**
 * Whether commits of this role wait for a standby that does not answer. It runs as its caller, which sees only its own
 * sessions. It does not cancel a waiting spend, because that would end as if the standby had answered.
 */
const WAITING = `
CREATE OR REPLACE FUNCTION ori_replay.waiting(OUT verdict text, OUT detail text)
LANGUAGE plpgsql SECURITY INVOKER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  verdict := 'touched';
  IF EXISTS (SELECT FROM pg_stat_activity a WHERE a.usename = current_user AND a.wait_event = 'SyncRep'
    AND a.query_start < clock_timestamp() - interval '1 second') THEN
    verdict := 'unsafe'; detail := 'commits wait for a standby';
  END IF;
END $$;
`;

/** The functions that check the server, and `touch`, which updates the ledger. */
export const STATE_FUNCTIONS: string = `${IDENTITY}${UNSAFE}${TOUCH}${WAITING}`;
