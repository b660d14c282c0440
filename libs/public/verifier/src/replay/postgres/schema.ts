import { ANSWER_FUNCTIONS } from './answers.ts';
import { SPEND_FUNCTIONS } from './spend.ts';
import { STATE_FUNCTIONS } from './state.ts';
import { TABLES } from './tables.ts';

/**
 * The schema of the PostgreSQL store. Run it once as its future owner, and again after an update of this package. Sent as one query
 * without values it is one transaction. It keeps the spent proofs.
 */
export const POSTGRES_REPLAY_SQL: string = `
SELECT pg_catalog.pg_advisory_xact_lock(7309426);
${TABLES}
${STATE_FUNCTIONS}
${SPEND_FUNCTIONS}
${ANSWER_FUNCTIONS}
REVOKE ALL ON SCHEMA ori_replay FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA ori_replay FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ori_replay FROM PUBLIC;
`;
