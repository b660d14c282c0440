import { sql } from 'kysely';

/** Whether an API key is refused, as a column of a query: it was disabled, or it has expired. */
export const isKeyDisabled = sql<boolean>`(disabled_at is not null or coalesce(expires_at <= now(), false))`;
