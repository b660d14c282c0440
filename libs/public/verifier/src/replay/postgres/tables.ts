/** The version of the functions. A store refuses to work with those of an older package. */
export const SCHEMA_VERSION = 1;

/** The seconds of timestamps per partition, and the number of partitions, which take turns: at most four of six are in use. */
export const SLOT_SECONDS = 300;
export const SLOTS = 6;

/**
 * The tables. `ledger`: which server wrote last, when spends could last have been lost, and up to when spends were forgotten.
 * `spent`: one row per id, in the partition of its timestamp. The partitions are created once and used in rotation, so that
 * forgetting is a TRUNCATE of an unused one, and no partition is created or dropped while daemons run. `slot`: the file of each partition as
 * it was last emptied: any other file means that spends were lost. `v1`: since when version 1 ids are recorded.
 */
export const TABLES: string = `
CREATE SCHEMA IF NOT EXISTS ori_replay;
CREATE TABLE IF NOT EXISTS ori_replay.ledger (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  identity text NOT NULL,
  event double precision NOT NULL,
  floor bigint NOT NULL
);
INSERT INTO ori_replay.ledger VALUES (true, '', 0, -1) ON CONFLICT DO NOTHING;
CREATE TABLE IF NOT EXISTS ori_replay.v1 (
  intern_id text COLLATE "C" PRIMARY KEY,
  since double precision NOT NULL
);
CREATE TABLE IF NOT EXISTS ori_replay.slot (
  slot integer PRIMARY KEY,
  file oid NOT NULL
);
CREATE TABLE IF NOT EXISTS ori_replay.spent (
  intern_id text COLLATE "C" NOT NULL,
  id bytea NOT NULL,
  slot integer NOT NULL,
  stamped bigint NOT NULL,
  PRIMARY KEY (intern_id, id, slot)
) PARTITION BY LIST (slot);
DO $install$
BEGIN
  FOR n IN 0..${SLOTS - 1} LOOP
    EXECUTE format(
      'CREATE TABLE IF NOT EXISTS ori_replay.spent_%s PARTITION OF ori_replay.spent FOR VALUES IN (%s)', n, n);
    INSERT INTO ori_replay.slot VALUES (n, 0) ON CONFLICT DO NOTHING;
  END LOOP;
END $install$;
`;
