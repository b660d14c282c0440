import { RETENTION_SECONDS_MAX, RUNNING_SECONDS_MAX } from '../times.ts';
import { OWNED } from './state.ts';

/** Rows that one call forgets at most, to be short. */
const FORGOTTEN_MAX = 10_000;

/**
 * Forgets answers, and spent proofs that are too old for any verifier, and raises the floor to the latest of these: forgotten proofs are
 * refused from then on, and no later ones if the clocks were ahead. One caller at a time.
 */
const FORGET = `
CREATE OR REPLACE FUNCTION ori_replay.forget(
  verifier_now double precision, tolerance integer, acks integer, OUT verdict text, OUT detail text)
${OWNED} AS $$
DECLARE
  book ori_replay.ledger;
  horizon bigint := floor(least(ori_replay.clock(), verifier_now) - ${RETENTION_SECONDS_MAX});
BEGIN
  verdict := 'unsafe';
  detail := ori_replay.unsafe(verifier_now, tolerance, acks);
  IF detail IS NOT NULL THEN RETURN; END IF;
  verdict := 'forgot';
  IF NOT pg_try_advisory_xact_lock(7309426, 1) THEN RETURN; END IF;
  PERFORM set_config('lock_timeout', '50', true);
  SELECT * INTO book FROM ori_replay.ledger l;
  -- If the clock went back, answers have an earlier end than those that were forgotten last.
  IF book.answers > ori_replay.clock() THEN book.answers := 0; END IF;
  PERFORM set_config('synchronous_commit', 'on', true);
  WITH forgotten AS (DELETE FROM ori_replay.spent WHERE ctid = ANY (ARRAY(
    SELECT s.ctid FROM ori_replay.spent s WHERE s.stamped >= book.floor AND s.stamped <= horizon ORDER BY s.stamped LIMIT ${FORGOTTEN_MAX}))
    RETURNING stamped)
  UPDATE ori_replay.ledger l SET floor = greatest(l.floor, (SELECT max(f.stamped) FROM forgotten f)) WHERE EXISTS (SELECT FROM forgotten);
  WITH forgotten AS (DELETE FROM ori_replay.answer WHERE ctid = ANY (ARRAY(
    SELECT a.ctid FROM ori_replay.answer a WHERE a.until >= book.answers AND a.until < ori_replay.clock() ORDER BY a.until LIMIT ${FORGOTTEN_MAX}))
    RETURNING until)
  UPDATE ori_replay.ledger l SET answers = (SELECT max(f.until) FROM forgotten f) WHERE EXISTS (SELECT FROM forgotten);
  DELETE FROM ori_replay.process p WHERE p.seen < ori_replay.clock() - ${RUNNING_SECONDS_MAX};
END $$;
`;

/**
 * Spends one proof, and records its call as running if it has a caller. It is checked before the row is written, whose key decides
 * between callers. What may have changed in between (the floor, the file of the table) is checked again afterwards.
 */
const SPEND = `
CREATE OR REPLACE FUNCTION ori_replay.spend(
  intern text, stamped bigint, nonce bytea, v1_id bytea,
  verifier_now double precision, known_event double precision, known_identity text, known_lsn text,
  retention integer, tolerance integer, acks integer, wait_ms integer, caller text DEFAULT NULL, runner text DEFAULT NULL,
  OUT verdict text, OUT detail text, OUT event double precision, OUT identity text, OUT lsn text, OUT pause integer)
${OWNED} AS $$
DECLARE
  book ori_replay.ledger;
  now double precision;
  fence double precision;
  v1_since double precision;
BEGIN
  verdict := 'unsafe';
  detail := ori_replay.unsafe(verifier_now, tolerance, acks);
  IF detail IS NOT NULL THEN RETURN; END IF;
  PERFORM set_config('lock_timeout', wait_ms::text, true);
  PERFORM set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') <> 'remote_apply';
  LOCK TABLE ori_replay.ledger IN ROW SHARE MODE;
  SELECT * INTO book FROM ori_replay.ledger l;
  identity := book.identity;
  lsn := pg_current_wal_insert_lsn()::text;
  IF identity <> split_part(identity, ':', 1) || ':' || ori_replay.run() OR book.event < known_event
    OR (known_identity = identity AND lsn::pg_lsn < known_lsn::pg_lsn) THEN
    detail := 'the server is not where it was: older proofs are being fenced off'; RETURN;
  END IF;
  event := book.event;
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
  IF v1_since IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended(intern || encode(v1_id, 'hex'), 0));
    IF EXISTS (SELECT FROM ori_replay.spent s
      WHERE s.intern_id = intern AND s.id = (CASE WHEN nonce IS NULL THEN 'm'::bytea ELSE '1'::bytea END) || v1_id) THEN RETURN; END IF;
  END IF;
  INSERT INTO ori_replay.spent VALUES (intern, coalesce('2'::bytea || nonce, '1'::bytea || v1_id), stamped) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN; END IF;
  IF nonce IS NOT NULL AND v1_since IS NOT NULL THEN
    INSERT INTO ori_replay.spent VALUES (intern, 'm'::bytea || v1_id, stamped) ON CONFLICT DO NOTHING;
  END IF;

  IF stamped <= (SELECT l.floor FROM ori_replay.ledger l) THEN verdict := 'expired'; RETURN; END IF;
  IF book.file <> pg_relation_filenode('ori_replay.spent') THEN
    verdict := 'unsafe'; detail := 'the spent proofs were emptied by someone else'; RETURN;
  END IF;
  verdict := 'spent';
  IF caller IS NOT NULL THEN
    INSERT INTO ori_replay.answer VALUES (intern, nonce, caller, runner, 'running', ori_replay.clock() + ${RUNNING_SECONDS_MAX});
    INSERT INTO ori_replay.process VALUES (runner, ori_replay.clock()) ON CONFLICT DO NOTHING;
  END IF;
END $$;
`;

export const SPEND_FUNCTIONS: string = `${FORGET}${SPEND}`;
