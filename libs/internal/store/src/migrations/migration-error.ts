import { CodedError } from '@ori/runtime/coded-error';

export type MigrationErrorCode =
  | 'database_not_ours'
  | 'database_newer'
  | 'role_unsafe'
  | 'restore_incomplete'
  | 'migration_failed';

/** The database is unchanged. The message is for the operator. */
export class MigrationError extends CodedError<MigrationErrorCode> {
  override readonly name = 'MigrationError';
}
