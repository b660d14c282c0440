import { type Kysely, sql } from 'kysely';

/** Lets a guardrail have a spending limit of 0: nothing may be spent. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table guardrails
      drop constraint guardrails_limit_usd_check,
      add constraint guardrails_limit_usd_check check (limit_usd >= 0)`.execute(db);
}
