import type { Variants } from '../variants.ts';

const STATE = 'replay/postgres/state.ts';
const SPENDS = 'replay/postgres/spend.ts';

/** Guards of the PostgreSQL store, each broken. */
export const POSTGRES_VARIANTS: Variants = {
  'postgres-fence': {
    guard: 'fence: proofs from before a loss are refused',
    faults: ['old copy restored', 'spends emptied by someone'],
    breaks: [[SPENDS, 'IF stamped <= fence OR (nonce IS NULL AND v1_since IS NULL) THEN', 'IF false THEN']],
  },
  'postgres-fence-tolerance': {
    guard: 'clock tolerance in the fence: a proof stamped ahead lives on past the event',
    faults: ['spends emptied by someone'],
    breaks: [[SPENDS, 'fence := ceil(event + tolerance);', 'fence := floor(event);']],
  },
  'postgres-empty-store': {
    guard: 'boot refusal: an emptied store, or a new one, starts with a fence',
    faults: ['spends emptied by someone', 'dropped and installed again'],
    breaks: [
      [
        STATE,
        'greatest(ori_replay.clock(), verifier_now, known_event, book.event + 0.001)',
        'greatest(known_event, book.event + 0.001)',
      ],
    ],
  },
  'postgres-floor': {
    guard: 'floor: what was forgotten stays refused when the clocks go back',
    faults: ['time passes, then all clocks go back'],
    breaks: [
      [SPENDS, ' OR stamped <= book.floor', ''],
      [SPENDS, 'IF stamped <= (SELECT l.floor FROM ori_replay.ledger l) THEN', 'IF false THEN'],
    ],
  },
  'postgres-identity': {
    guard: 'the fence is of one run on one timeline, and the log does not go back',
    faults: ['old copy restored'],
    breaks: [
      [STATE, 'pg_catalog.pg_postmaster_start_time()', "'2026-01-01'::timestamptz"],
      [STATE, 'OR (known_identity = identity AND lsn::pg_lsn < known_lsn::pg_lsn)', ''],
      [SPENDS, 'OR (known_identity = identity AND lsn::pg_lsn < known_lsn::pg_lsn)', ''],
    ],
  },
  'postgres-partitions': {
    guard: 'an emptied partition is a loss',
    faults: ['spends emptied by someone'],
    breaks: [
      [STATE, 'WHERE s.file <> pg_relation_filenode', 'WHERE false AND s.file <> pg_relation_filenode'],
      [SPENDS, "verdict := 'unsafe'; detail := 'a partition was emptied by someone else'; RETURN;", 'NULL;'],
    ],
  },
  'postgres-settings': {
    guard: 'policy check: no spend under settings that can lose it',
    faults: ['settings changed'],
    breaks: [
      [
        STATE,
        "IF current_setting('full_page_writes') <> 'on' THEN RETURN 'full_page_writes is off'; END IF;",
        '',
      ],
    ],
  },
  'postgres-clocks': {
    guard: 'clocks apart: the server does not work with a verifier whose clock is wrong',
    faults: ['clock forward 300 s', 'clock back 300 s'],
    breaks: [
      [STATE, 'IF abs(ori_replay.clock() - verifier_now) > greatest(tolerance, 1) THEN', 'IF false THEN'],
    ],
  },
  'postgres-v1-burn': {
    guard: 'v1 burn: a version 2 spend uses its version 1 copy up',
    faults: ['stripped after the whole'],
    breaks: [[SPENDS, 'IF part IS NOT NULL AND v1_since IS NOT NULL THEN', 'IF false THEN']],
  },
};
