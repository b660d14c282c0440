export { MigrationError, type MigrationErrorCode, migrate } from './migrations/migrate.ts';
