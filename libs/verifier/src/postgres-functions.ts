import { SLOT_SECONDS, SLOTS } from './postgres-tables.ts';
import { RETENTION_SECONDS_MAX } from './replay-store.ts';

/** They run as the owner of the schema, so that a daemon's role needs no table; nothing but pg_catalog is looked up by a bare name. */
const OWNED = `LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp`;

/** The server's clock, and which run of which server on which timeline this is. */
const IDENTITY = `
CREATE OR REPLACE FUNCTION ori_replay.clock() RETURNS double precision LANGUAGE sql VOLATILE
AS $$ SELECT extract(epoch FROM pg_catalog.clock_timestamp())::double precision $$;

CREATE OR REPLACE FUNCTION ori_replay.identity() RETURNS text LANGUAGE sql VOLATILE
AS $$ SELECT pg_catalog.concat_ws(':',
  (SELECT system_identifier FROM pg_catalog.pg_control_system()),
  pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8),
  extract(epoch FROM pg_catalog.pg_postmaster_start_time())) $$;
`;

/** Why this server cannot be trusted to remember, or null. */
const UNSAFE = `
CREATE OR REPLACE FUNCTION ori_replay.unsafe(verifier_now double precision, tolerance integer, acks integer)
RETURNS text ${OWNED} AS $$
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
 * Notices what a spend cannot mend: another run of the server, another timeline, a log that went back, an emptied partition, or a loss
 * that this verifier knows of and the server does not. Whoever writes waits for every spend under way, and none begins meanwhile: a
 * spend is judged by what still holds when it commits.
 */
const TOUCH = `
CREATE OR REPLACE FUNCTION ori_replay.touch(
  intern text, accept_v1 boolean, verifier_now double precision, known_event double precision, known_identity text, known_lsn text,
  tolerance integer, acks integer, wait_ms integer,
  OUT verdict text, OUT detail text, OUT event double precision, OUT identity text, OUT lsn text, OUT due boolean)
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
    IF book.version IS DISTINCT FROM 1 THEN
      detail := 'the schema ori_replay is of another version: install it again'; RETURN;
    END IF;
    identity := ori_replay.identity();
    lsn := pg_current_wal_insert_lsn()::text;
    is_lost := book.identity <> identity OR book.event < known_event
      OR (known_identity = identity AND lsn::pg_lsn < known_lsn::pg_lsn)
      OR EXISTS (SELECT FROM ori_replay.slot s
        WHERE s.file <> pg_relation_filenode(('ori_replay.spent_' || s.slot)::regclass));
    EXIT WHEN NOT (is_lost OR (accept_v1 AND NOT EXISTS (SELECT FROM ori_replay.v1 v WHERE v.intern_id = intern)));
    IF attempt = 1 THEN
      PERFORM set_config('synchronous_commit', 'on', true);
      LOCK TABLE ori_replay.ledger IN EXCLUSIVE MODE;
      CONTINUE;
    END IF;
    IF is_lost THEN
      book.event := greatest(ori_replay.clock(), verifier_now, known_event, book.event + 0.001);
      UPDATE ori_replay.ledger l SET identity = ori_replay.identity(), event = book.event;
      UPDATE ori_replay.slot s SET file = pg_relation_filenode(('ori_replay.spent_' || s.slot)::regclass);
    END IF;
    IF accept_v1 THEN
      INSERT INTO ori_replay.v1 VALUES (intern, greatest(ori_replay.clock(), verifier_now) + tolerance) ON CONFLICT DO NOTHING;
    END IF;
  END LOOP;
  verdict := 'touched';
  event := book.event;
  due := EXISTS (SELECT FROM ori_replay.idle() AS n WHERE pg_relation_size(('ori_replay.spent_' || n)::regclass) > 0);
END $$;
`;

/** The partitions that no proof of the present can be in. */
const IDLE = `
CREATE OR REPLACE FUNCTION ori_replay.idle() RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  SELECT n FROM pg_catalog.generate_series(0, ${SLOTS - 1}) AS n
  WHERE n NOT IN (SELECT (epoch % ${SLOTS})::integer FROM pg_catalog.generate_series(
    pg_catalog.floor((ori_replay.clock() - ${RETENTION_SECONDS_MAX}) / ${SLOT_SECONDS})::bigint,
    pg_catalog.floor((ori_replay.clock() + 61) / ${SLOT_SECONDS})::bigint) AS epoch)
$$;
`;

/**
 * Empties partitions that nobody uses, each only when every row in it is too old for any verifier, and raises the floor with it: what was
 * forgotten is refused for ever. One caller at a time; a partition that someone reads (a dump) is left for the next time.
 */
const FORGET = `
CREATE OR REPLACE FUNCTION ori_replay.forget(
  verifier_now double precision, tolerance integer, acks integer, OUT verdict text, OUT detail text, OUT emptied integer)
${OWNED} AS $$
DECLARE
  horizon bigint := floor(least(ori_replay.clock(), verifier_now) - ${RETENTION_SECONDS_MAX});
  part regclass;
  n integer;
  is_old boolean;
BEGIN
  verdict := 'unsafe';
  detail := ori_replay.unsafe(verifier_now, tolerance, acks);
  IF detail IS NOT NULL THEN RETURN; END IF;
  verdict := 'forgot';
  emptied := 0;
  IF NOT pg_try_advisory_xact_lock(7309426, 1) THEN RETURN; END IF;
  PERFORM set_config('lock_timeout', '50', true);
  PERFORM set_config('synchronous_commit', 'on', true);
  FOR n IN SELECT i FROM ori_replay.idle() AS i LOOP
    part := ('ori_replay.spent_' || n)::regclass;
    CONTINUE WHEN pg_relation_size(part) = 0;
    BEGIN
      EXECUTE format('LOCK TABLE %s IN SHARE MODE', part);
      EXECUTE format('SELECT NOT EXISTS (SELECT FROM %s WHERE stamped > $1)', part) INTO is_old USING horizon;
      CONTINUE WHEN NOT is_old
        OR NOT EXISTS (SELECT FROM ori_replay.slot s WHERE s.slot = n AND s.file = pg_relation_filenode(part));
      UPDATE ori_replay.ledger l SET floor = greatest(l.floor, horizon);
      EXECUTE format('TRUNCATE %s', part);
      UPDATE ori_replay.slot s SET file = pg_relation_filenode(part) WHERE s.slot = n;
      emptied := emptied + 1;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN NULL;
    END;
  END LOOP;
END $$;
`;

/**
 * Uses one proof up. Judged before the row is written, and what may have changed meanwhile (the floor, the partition's file) once more
 * after it, in a snapshot taken when the row already stands in the way of whoever would forget it.
 */
const SPEND = `
CREATE OR REPLACE FUNCTION ori_replay.spend(
  intern text, stamped bigint, nonce bytea, v1_id bytea,
  verifier_now double precision, known_event double precision, known_identity text, known_lsn text,
  retention integer, tolerance integer, acks integer, wait_ms integer,
  OUT verdict text, OUT detail text, OUT event double precision, OUT identity text, OUT lsn text, OUT pause integer)
${OWNED} AS $$
DECLARE
  book ori_replay.ledger;
  now double precision;
  fence double precision;
  v1_since double precision;
  place integer := (stamped / ${SLOT_SECONDS}) % ${SLOTS};
  part oid;
BEGIN
  verdict := 'unsafe';
  detail := ori_replay.unsafe(verifier_now, tolerance, acks);
  IF detail IS NOT NULL THEN RETURN; END IF;
  PERFORM set_config('lock_timeout', wait_ms::text, true);
  PERFORM set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') <> 'remote_apply';
  LOCK TABLE ori_replay.ledger IN ROW SHARE MODE;
  SELECT * INTO book FROM ori_replay.ledger l;
  identity := ori_replay.identity();
  lsn := pg_current_wal_insert_lsn()::text;
  IF book.identity IS DISTINCT FROM identity OR book.event < known_event
    OR (known_identity = identity AND lsn::pg_lsn < known_lsn::pg_lsn) THEN
    detail := 'the server is not where it was: older proofs are being fenced off'; RETURN;
  END IF;
  event := book.event;
  detail := NULL;
  now := ori_replay.clock();
  IF stamped > now + tolerance THEN verdict := 'not_yet_valid'; RETURN; END IF;
  IF stamped <= floor(now - retention) OR stamped <= book.floor THEN verdict := 'expired'; RETURN; END IF;
  fence := ceil(event + tolerance);
  SELECT v.since INTO v1_since FROM ori_replay.v1 v WHERE v.intern_id = intern;
  IF nonce IS NULL THEN fence := greatest(fence, ceil(coalesce(v1_since, now + tolerance))); END IF;
  IF stamped <= fence OR (nonce IS NULL AND v1_since IS NULL) THEN
    verdict := 'before_fence'; pause := greatest(1, ceil(fence + 1 - now)); RETURN;
  END IF;

  verdict := 'replayed';
  IF nonce IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended(intern || encode(nonce, 'hex'), 0));
  END IF;
  IF nonce IS NULL OR v1_since IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended(intern || encode(v1_id, 'hex'), 0));
  END IF;
  IF nonce IS NULL THEN
    IF EXISTS (SELECT FROM ori_replay.spent s WHERE s.intern_id = intern AND s.id = 'm'::bytea || v1_id) THEN RETURN; END IF;
    INSERT INTO ori_replay.spent VALUES (intern, '1'::bytea || v1_id, place, stamped) ON CONFLICT DO NOTHING
      RETURNING tableoid INTO part;
  ELSE
    IF EXISTS (SELECT FROM ori_replay.spent s WHERE s.intern_id = intern AND s.id = '2'::bytea || nonce) THEN RETURN; END IF;
    IF v1_since IS NOT NULL AND EXISTS (
      SELECT FROM ori_replay.spent s WHERE s.intern_id = intern AND s.id = '1'::bytea || v1_id) THEN RETURN; END IF;
    INSERT INTO ori_replay.spent VALUES (intern, '2'::bytea || nonce, place, stamped) ON CONFLICT DO NOTHING
      RETURNING tableoid INTO part;
    IF part IS NOT NULL AND v1_since IS NOT NULL THEN
      INSERT INTO ori_replay.spent VALUES (intern, 'm'::bytea || v1_id, place, stamped) ON CONFLICT DO NOTHING;
    END IF;
  END IF;
  IF part IS NULL THEN RETURN; END IF;

  IF stamped <= (SELECT l.floor FROM ori_replay.ledger l) THEN verdict := 'expired'; RETURN; END IF;
  IF NOT EXISTS (SELECT FROM ori_replay.slot s WHERE s.slot = place AND s.file = pg_relation_filenode(part)) THEN
    verdict := 'unsafe'; detail := 'a partition was emptied by someone else'; RETURN;
  END IF;
  verdict := 'spent';
END $$;
`;

export const FUNCTIONS = `${IDENTITY}${UNSAFE}${IDLE}${TOUCH}${FORGET}${SPEND}`;
