import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { ADMIN_AUDIT } from './admin-audit.ts';
import { API_KEYS } from './api-keys.ts';
import { CREDENTIALS } from './byok.ts';
import { GUARDRAILS } from './guardrails.ts';
import { INTERNS } from './interns.ts';
import { REQUEST_RECORDS } from './requests.ts';
import { ROW_LEVEL_SECURITY } from './row-level-security.ts';
import { TENANTS } from './tenants.ts';

/** Where the next statement begins, every other line of which is indented or closes it. */
const BETWEEN_STATEMENTS = /;\n+(?=\S)/;

async function execute(db: Kysely<unknown>, text: string): Promise<void> {
  for (const statement of text.trim().split(BETWEEN_STATEMENTS)) await sql.raw(statement).execute(db);
}

const SCHEMA = [TENANTS, INTERNS, API_KEYS, CREDENTIALS, GUARDRAILS, REQUEST_RECORDS];

/** In order. Until the first release the schema is edited in place; after it, every change is a new entry here. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-schema': {
    async up(db) {
      for (const text of [...SCHEMA, ROW_LEVEL_SECURITY, ADMIN_AUDIT]) await execute(db, text);
    },
  },
};
