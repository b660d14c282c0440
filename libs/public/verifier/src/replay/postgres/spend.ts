import { RETENTION_SECONDS_MAX } from '../replay-store.ts';
import { OWNED } from './state.ts';
import { SLOT_SECONDS, SLOTS } from './tables.ts';

/** The partitions that no current proof can be in. */
const IDLE = `
CREATE OR REPLACE FUNCTION ori_replay.idle() RETURNS SETOF integer LANGUAGE sql VOLATILE AS $$
  SELECT n FROM pg_catalog.generate_series(0, ${SLOTS - 1}) AS n
  WHERE n NOT IN (SELECT (epoch % ${SLOTS})::integer FROM pg_catalog.generate_series(
    pg_catalog.floor((ori_replay.clock() - ${RETENTION_SECONDS_MAX}) / ${SLOT_SECONDS})::bigint,
    pg_catalog.floor((ori_replay.clock() + 61) / ${SLOT_SECONDS})::bigint) AS epoch)
$$;
`;

/**
 * Empties unused partitions whose rows are all too old for any verifier, and raises the floor to the latest of them: forgotten proofs are
 * refused from then on, and no later ones if the clocks were ahead. One caller at a time. A partition that is being read (by a dump) is
 * left for the next time.
 */
const FORGET = `
CREATE OR REPLACE FUNCTION ori_replay.forget(
  verifier_now double precision, tolerance integer, acks integer, OUT verdict text, OUT detail text, OUT emptied integer)
${OWNED} AS $$
DECLARE
  horizon bigint := floor(least(ori_replay.clock(), verifier_now) - ${RETENTION_SECONDS_MAX});
  part regclass;
  n integer;
  latest bigint;
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
      EXECUTE format('SELECT coalesce(max(stamped), -1) FROM %s', part) INTO latest;
      CONTINUE WHEN latest > horizon
        OR NOT EXISTS (SELECT FROM ori_replay.slot s WHERE s.slot = n AND s.file = pg_relation_filenode(part));
      UPDATE ori_replay.ledger l SET floor = greatest(l.floor, latest);
      EXECUTE format('TRUNCATE %s', part);
      UPDATE ori_replay.slot s SET file = pg_relation_filenode(part) WHERE s.slot = n;
      emptied := emptied + 1;
    EXCEPTION WHEN lock_not_available OR deadlock_detected THEN NULL;
    END;
  END LOOP;
END $$;
`;

/**
 * Spends one proof. It is checked before the row is written. What may have changed in between (the floor, the partition's file) is checked
 * again afterwards, in a snapshot taken when the row already blocks anyone who would empty the partition.
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
  fence := event;
  SELECT v.since INTO v1_since FROM ori_replay.v1 v WHERE v.intern_id = intern;
  IF nonce IS NULL THEN fence := greatest(fence, coalesce(v1_since, now)); END IF;
  fence := ceil(fence + tolerance);
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

export const SPEND_FUNCTIONS: string = `${IDLE}${FORGET}${SPEND}`;
