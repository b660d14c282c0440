import { OriError } from '@ori/proof/errors';

export type MigrationErrorCode =
  | 'database_not_ours'
  | 'database_not_utf8'
  | 'database_newer'
  | 'role_unsafe'
  | 'restore_incomplete'
  | 'migration_failed';

/** The database is unchanged. The message is for the operator. */
export class MigrationError extends OriError<MigrationErrorCode> {
  override readonly name = 'MigrationError';
}
