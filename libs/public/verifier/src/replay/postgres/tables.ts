/** The version of the functions. A store refuses to work with those of an older package. */
export const SCHEMA_VERSION = 1;

/**
 * The tables. `ledger`: which server wrote last, when spends could last have been lost, up to when spends were forgotten, in which
 * file `spent` was then (if it is in another, spends were lost), and up to when answers were forgotten. `spent`: one row for each id. `v1`: since when version 1 ids are recorded.
 * `answer`: one row per call whose answer is kept. `process`: the last sign of life of each process that runs such calls.
 */
export const TABLES: string = `
CREATE SCHEMA IF NOT EXISTS ori_replay;
CREATE TABLE IF NOT EXISTS ori_replay.ledger (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  identity text NOT NULL,
  event double precision NOT NULL,
  floor bigint NOT NULL,
  file oid NOT NULL
);
ALTER TABLE ori_replay.ledger ADD COLUMN IF NOT EXISTS answers double precision NOT NULL DEFAULT 0;
INSERT INTO ori_replay.ledger VALUES (true, '', 0, -1, 0) ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS ori_replay.v1 (
  intern_id text COLLATE "C" PRIMARY KEY,
  since double precision NOT NULL
);
CREATE TABLE IF NOT EXISTS ori_replay.spent (
  intern_id text COLLATE "C" NOT NULL,
  id bytea NOT NULL,
  stamped bigint NOT NULL,
  PRIMARY KEY (intern_id, id)
);
CREATE INDEX IF NOT EXISTS spent_stamped ON ori_replay.spent (stamped);
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
  process text COLLATE "C" PRIMARY KEY,
  seen double precision NOT NULL
);
`;
