import type { Migration } from 'kysely/migration';
import * as tenants from './0001-tenants.ts';
import * as interns from './0002-interns.ts';
import * as grants from './0003-grants.ts';

/** In order. A migration that was released is never changed; what changes the database is a new file here. */
export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '0001-tenants': tenants,
  '0002-interns': interns,
  '0003-grants': grants,
};
