import type { Migration } from 'kysely/migration';
import { auditChanges } from './admin-audit.ts';
import { createApiKeys } from './api-keys.ts';
import { createCredentials } from './byok.ts';
import { createGuardrails } from './guardrails.ts';
import { createInterns } from './interns.ts';
import { createRequestRecords } from './requests.ts';
import { restrictRows } from './row-level-security.ts';
import { keepTallies } from './tallies.ts';
import { createTenants } from './tenants.ts';

/** In order. Until the first release the schema is edited in place; after it, every change is a new entry here. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-schema': {
    async up(db) {
      await createTenants(db);
      await createInterns(db);
      await createApiKeys(db);
      await createCredentials(db);
      await createGuardrails(db);
      await createRequestRecords(db);
      await keepTallies(db);
      await restrictRows(db);
      await auditChanges(db);
    },
  },
};
