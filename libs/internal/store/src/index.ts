export type { Database, StoreRole } from './database.ts';
export { STORE_ROLES } from './database.ts';
export { type EmbeddedDatabase, openPglite, type PgliteOptions } from './pglite/open-pglite.ts';
export { openPostgres, type PostgresOptions } from './postgres/open-postgres.ts';
export { OverprivilegedLogin, overprivilegedLogin } from './postgres/overprivileged-login.ts';
export { excessPrivileges, fixPrivileges } from './queries/excess-privileges.ts';
export * from './queries/management.ts';
export { type Privileges, readPrivileges } from './queries/privileges.ts';
export * from './queries/signer.ts';
export type {
  ApiKeyKind,
  IconMediaType,
  InternProgress,
  Schema,
} from './schema.ts';
export { StoreUnavailable, type StoreUnavailableCode } from './store-unavailable.ts';
