import { ANSWER_SECONDS, LIFE_SECONDS, QUESTION_SECONDS_MAX, TOLERANCE_SECONDS_MAX } from '../times.ts';
import { OWNED } from './state.ts';

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

/**
 * Answers a question, signed at `asked`, about the call with this nonce. An unknown nonce is spent, as late as a proof could be that any
 * verifier accepts, and marked by `x`. That comes first: it waits for a call that is being spent, whose record is then there.
 */
const ASK = `
CREATE OR REPLACE FUNCTION ori_replay.ask(
  asker text, asked double precision, intern text, of_nonce bytea,
  verifier_now double precision, known_event double precision, known_identity text, known_lsn text,
  retention integer, tolerance integer, acks integer, wait_ms integer,
  OUT verdict text, OUT detail text, OUT event double precision, OUT identity text, OUT lsn text, OUT outcome text)
${OWNED} AS $$
DECLARE
  record ori_replay.answer;
  second bigint := ceil(ori_replay.clock())::bigint;
  latest bigint := second + ${TOLERANCE_SECONDS_MAX};
  lost_until double precision;
BEGIN
  SELECT s.verdict, s.detail, s.event, s.identity, s.lsn INTO verdict, detail, event, identity, lsn
    FROM ori_replay.spend(intern, second + tolerance - 1, of_nonce, of_nonce,
      verifier_now, known_event, known_identity, known_lsn, retention, tolerance, acks, wait_ms) s;
  SELECT * INTO record FROM ori_replay.answer a
    WHERE a.intern_id = intern AND a.nonce = of_nonce AND a.until >= ori_replay.clock();
  IF record.person = asker THEN
    verdict := 'recorded';
    outcome := record.outcome;
    IF outcome = 'running' AND NOT EXISTS (SELECT FROM ori_replay.process p
      WHERE p.process = record.process AND p.seen >= ori_replay.clock() - ${LIFE_SECONDS}) THEN outcome := 'lost'; END IF;
    RETURN;
  END IF;
  outcome := 'lost';
  IF record.person IS NOT NULL THEN
    -- Of another person's call nobody learns that there is one.
    IF verdict = 'replayed' THEN verdict := 'spent'; END IF;
  ELSIF verdict = 'spent' THEN
    INSERT INTO ori_replay.spent AS s VALUES (intern, '2'::bytea || of_nonce, latest), (intern, 'x'::bytea || of_nonce, latest)
      ON CONFLICT (intern_id, id) DO UPDATE SET stamped = excluded.stamped;
  ELSIF EXISTS (SELECT FROM ori_replay.spent s WHERE s.intern_id = intern AND s.id = 'x'::bytea || of_nonce) THEN
    verdict := 'spent';
  END IF;
  SELECT l.event + tolerance INTO lost_until FROM ori_replay.ledger l;
  IF verdict = 'spent' AND asked - ${QUESTION_SECONDS_MAX} > lost_until
    AND NOT EXISTS (SELECT FROM ori_replay.v1 v WHERE v.intern_id = intern) THEN verdict := 'not_received'; RETURN; END IF;
  IF verdict IN ('spent', 'replayed') THEN verdict := 'recorded'; END IF;
END $$;
`;

export const ANSWER_FUNCTIONS: string = `${KEEP}${ASK}`;
