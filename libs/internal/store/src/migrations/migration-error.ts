export type MigrationErrorCode =
  | 'database_not_ours'
  | 'database_newer'
  | 'role_unsafe'
  | 'restore_incomplete'
  | 'migration_failed';

/** The database is unchanged. The message is for the operator. */
export class MigrationError extends Error {
  readonly code: MigrationErrorCode;

  constructor(code: MigrationErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'MigrationError';
    this.code = code;
  }
}
