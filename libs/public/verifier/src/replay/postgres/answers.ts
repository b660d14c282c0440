import { ANSWER_SECONDS, LIFE_SECONDS, QUESTION_SECONDS_MAX, RUNNING_SECONDS_MAX } from '../replay-store.ts';
import { OWNED } from './state.ts';
import { SLOT_SECONDS, SLOTS } from './tables.ts';

/** `answer`: one row per call whose answer is kept. `process`: the last sign of life of each process that runs such calls. */
const TABLES = `
CREATE TABLE IF NOT EXISTS ori_replay.answer (
  intern_id text COLLATE "C" NOT NULL,
  nonce bytea NOT NULL,
  person text NOT NULL,
  process text NOT NULL,
  outcome text NOT NULL,
  until double precision NOT NULL,
  PRIMARY KEY (intern_id, nonce)
);
CREATE INDEX IF NOT EXISTS answer_until ON ori_replay.answer (until);
CREATE TABLE IF NOT EXISTS ori_replay.process (
  process text PRIMARY KEY,
  seen double precision NOT NULL
);
`;

const SPEND_ARGUMENTS = `verifier_now double precision, known_event double precision, known_identity text, known_lsn text,
  retention integer, tolerance integer, acks integer, wait_ms integer`;
const SPEND_VALUES =
  'verifier_now, known_event, known_identity, known_lsn, retention, tolerance, acks, wait_ms';

/** Spends a proof and records its call as running, or does neither. */
const SPEND_FOR = `
CREATE OR REPLACE FUNCTION ori_replay.spend_for(
  caller text, runner text, intern text, stamped bigint, nonce bytea, v1_id bytea, ${SPEND_ARGUMENTS},
  OUT verdict text, OUT detail text, OUT event double precision, OUT identity text, OUT lsn text, OUT pause integer)
${OWNED} AS $$
BEGIN
  SELECT s.* INTO verdict, detail, event, identity, lsn, pause
    FROM ori_replay.spend(intern, stamped, nonce, v1_id, ${SPEND_VALUES}) s;
  IF verdict <> 'spent' THEN RETURN; END IF;
  INSERT INTO ori_replay.answer VALUES (intern, nonce, caller, runner, 'running', ori_replay.clock() + ${RUNNING_SECONDS_MAX});
  INSERT INTO ori_replay.process VALUES (runner, ori_replay.clock()) ON CONFLICT DO NOTHING;
END $$;
`;

/** Records how a call ended. */
const KEEP = `
CREATE OR REPLACE FUNCTION ori_replay.keep(intern text, of_nonce bytea, ended text, OUT verdict text)
${OWNED} AS $$
BEGIN
  UPDATE ori_replay.answer a SET outcome = ended, until = ori_replay.clock() + ${ANSWER_SECONDS}
    WHERE a.intern_id = intern AND a.nonce = of_nonce;
  verdict := 'kept';
END $$;
`;

/** A sign of life of this process. Also forgets what is too old. */
const ALIVE = `
CREATE OR REPLACE FUNCTION ori_replay.alive(runner text, OUT verdict text)
${OWNED} AS $$
BEGIN
  INSERT INTO ori_replay.process AS p VALUES (runner, ori_replay.clock()) ON CONFLICT (process) DO UPDATE SET seen = excluded.seen;
  DELETE FROM ori_replay.process p WHERE p.seen < ori_replay.clock() - ${RUNNING_SECONDS_MAX};
  DELETE FROM ori_replay.answer a WHERE a.until < ori_replay.clock();
  verdict := 'touched';
END $$;
`;

/**
 * Answers a question, signed at `asked`, about the call with this nonce. An unknown nonce is spent, as late as a proof could be that is
 * accepted, and marked by `x`. The lock is the one of `spend`, so the call cannot begin in between.
 */
const ASK = `
CREATE OR REPLACE FUNCTION ori_replay.ask(
  asker text, asked double precision, intern text, of_nonce bytea, ${SPEND_ARGUMENTS},
  OUT verdict text, OUT detail text, OUT event double precision, OUT identity text, OUT lsn text, OUT outcome text)
${OWNED} AS $$
DECLARE
  record ori_replay.answer;
  stamped bigint;
  lost_until double precision;
BEGIN
  PERFORM set_config('lock_timeout', wait_ms::text, true);
  PERFORM pg_advisory_xact_lock(hashtextextended(intern || encode(of_nonce, 'hex'), 0));
  SELECT * INTO record FROM ori_replay.answer a
    WHERE a.intern_id = intern AND a.nonce = of_nonce AND a.until >= ori_replay.clock();
  IF FOUND THEN
    verdict := CASE record.person WHEN asker THEN 'recorded' ELSE 'not_received' END;
    outcome := record.outcome;
    IF outcome = 'running' AND NOT EXISTS (SELECT FROM ori_replay.process p
      WHERE p.process = record.process AND p.seen >= ori_replay.clock() - ${LIFE_SECONDS}) THEN outcome := 'lost'; END IF;
    RETURN;
  END IF;
  outcome := 'lost';
  IF EXISTS (SELECT FROM ori_replay.spent s WHERE s.intern_id = intern AND s.id = 'x'::bytea || of_nonce) THEN
    verdict := 'spent';
  ELSE
    stamped := ceil(ori_replay.clock())::bigint + tolerance - 1;
    SELECT s.verdict, s.detail, s.event, s.identity, s.lsn INTO verdict, detail, event, identity, lsn
      FROM ori_replay.spend(intern, stamped, of_nonce, of_nonce, ${SPEND_VALUES}) s;
    IF verdict = 'spent' THEN
      INSERT INTO ori_replay.spent VALUES (intern, 'x'::bytea || of_nonce, (stamped / ${SLOT_SECONDS}) % ${SLOTS}, stamped);
    END IF;
  END IF;
  SELECT l.event + tolerance INTO lost_until FROM ori_replay.ledger l;
  IF verdict = 'spent' AND asked - ${QUESTION_SECONDS_MAX} > lost_until
    AND NOT EXISTS (SELECT FROM ori_replay.v1 v WHERE v.intern_id = intern) THEN verdict := 'not_received'; RETURN; END IF;
  IF verdict IN ('spent', 'replayed') THEN verdict := 'recorded'; END IF;
END $$;
`;

export const ANSWER_SCHEMA: string = `${TABLES}${SPEND_FOR}${KEEP}${ALIVE}${ASK}`;
