import { SPEND_FUNCTIONS } from './spend.ts';
import { STATE_FUNCTIONS } from './state.ts';
import { TABLES } from './tables.ts';

/**
 * Everything that a PostgreSQL store needs in its database: run it once as the role that shall own it, again after an update of this
 * package. One transaction when sent as one query without values; it loses nothing that is remembered.
 */
export const POSTGRES_REPLAY_SQL: string = `
SELECT pg_catalog.pg_advisory_xact_lock(7309426);
${TABLES}
${STATE_FUNCTIONS}
${SPEND_FUNCTIONS}
REVOKE ALL ON SCHEMA ori_replay FROM PUBLIC;
REVOKE ALL ON ALL TABLES IN SCHEMA ori_replay FROM PUBLIC;
REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ori_replay FROM PUBLIC;
`;
