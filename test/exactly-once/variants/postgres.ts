import type { Variant } from '../variants.ts';

const STATE = 'replay/postgres/state.ts';
const SPENDS = 'replay/postgres/spend.ts';

/** Guards of the PostgreSQL store, each broken. */
export const POSTGRES_VARIANTS: Readonly<Record<string, Variant>> = {
  'postgres-fence': {
    guard: 'fence: proofs from before a loss are refused',
    store: 'postgres',
    faults: ['old copy restored', 'spends emptied by someone'],
    breaks: [
      {
        file: SPENDS,
        guard: 'IF stamped <= fence OR (nonce IS NULL AND v1_since IS NULL) THEN',
        without: 'IF false THEN',
      },
    ],
  },
  'postgres-fence-tolerance': {
    guard: 'clock tolerance in the fence: a proof stamped ahead lives on past the event',
    store: 'postgres',
    faults: ['spends emptied by someone'],
    breaks: [{ file: SPENDS, guard: 'fence := ceil(event + tolerance);', without: 'fence := floor(event);' }],
  },
  'postgres-empty-store': {
    guard: 'boot refusal: an emptied store, or a new one, starts with a fence',
    store: 'postgres',
    faults: ['spends emptied by someone', 'dropped and installed again'],
    breaks: [
      {
        file: STATE,
        guard: 'greatest(ori_replay.clock(), verifier_now, known_event, book.event + 0.001)',
        without: 'greatest(known_event, book.event + 0.001)',
      },
    ],
  },
  'postgres-floor': {
    guard: 'floor: what was forgotten stays refused when the clocks go back',
    store: 'postgres',
    faults: ['time passes, then all clocks go back'],
    breaks: [
      { file: SPENDS, guard: ' OR stamped <= book.floor', without: '' },
      {
        file: SPENDS,
        guard: 'IF stamped <= (SELECT l.floor FROM ori_replay.ledger l) THEN',
        without: 'IF false THEN',
      },
    ],
  },
  'postgres-identity': {
    guard: 'the fence is of one run on one timeline, and the log does not go back',
    store: 'postgres',
    faults: ['old copy restored'],
    breaks: [
      { file: STATE, guard: 'pg_catalog.pg_postmaster_start_time()', without: "'2026-01-01'::timestamptz" },
      {
        file: STATE,
        guard: 'OR (known_identity = identity AND lsn::pg_lsn < known_lsn::pg_lsn)',
        without: '',
      },
      {
        file: SPENDS,
        guard: 'OR (known_identity = identity AND lsn::pg_lsn < known_lsn::pg_lsn)',
        without: '',
      },
    ],
  },
  'postgres-partitions': {
    guard: 'an emptied partition is a loss',
    store: 'postgres',
    faults: ['spends emptied by someone'],
    breaks: [
      {
        file: STATE,
        guard: 'WHERE s.file <> pg_relation_filenode',
        without: 'WHERE false AND s.file <> pg_relation_filenode',
      },
      {
        file: SPENDS,
        guard: "verdict := 'unsafe'; detail := 'a partition was emptied by someone else'; RETURN;",
        without: 'NULL;',
      },
    ],
  },
  'postgres-settings': {
    guard: 'policy check: no spend under settings that can lose it',
    store: 'postgres',
    faults: ['settings changed'],
    breaks: [
      {
        file: STATE,
        guard:
          "IF current_setting('full_page_writes') <> 'on' THEN RETURN 'full_page_writes is off'; END IF;",
        without: '',
      },
    ],
  },
  'postgres-clocks': {
    guard: 'clocks apart: the server does not work with a verifier whose clock is wrong',
    store: 'postgres',
    faults: ['clock forward 300 s', 'clock back 300 s'],
    breaks: [
      {
        file: STATE,
        guard: 'IF abs(ori_replay.clock() - verifier_now) > greatest(tolerance, 1) THEN',
        without: 'IF false THEN',
      },
    ],
  },
  'postgres-v1-burn': {
    guard: 'v1 burn: a version 2 spend uses its version 1 copy up',
    store: 'postgres',
    faults: ['stripped after the whole'],
    breaks: [
      { file: SPENDS, guard: 'IF part IS NOT NULL AND v1_since IS NOT NULL THEN', without: 'IF false THEN' },
    ],
  },
};
