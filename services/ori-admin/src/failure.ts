import { toSentence } from '@ori/faces/usage';
import { StoreUnavailable } from '@ori/postgres/store-unavailable';
import { ConfigError } from '@ori/runtime/config';
import { SecretFileError } from '@ori/runtime/secret-file';
import { systemErrorCode } from '@ori/runtime/system-error-code';
import { KmsError } from '@ori/sealing/key-wrapper';
import { SealingError } from '@ori/sealing/sealing-error';
import { MigrationError } from '@ori/store/migrate';
import { AdminError, type AdminErrorCode } from '@ori/store/writes/admin-error';
import { EXIT, type ExitCode } from './exit-codes.ts';

/** The command line cannot be executed. Says what to do next; never quotes a secret. */
export class UsageError extends Error {
  readonly next: string;

  constructor(message: string, next = 'See ori-admin --help.') {
    super(message);
    this.name = 'UsageError';
    this.next = next;
  }
}

/** A command did only part of its work and reported that part on stdout. */
export class PartialFailure extends Error {
  readonly exit: ExitCode;
  readonly next: string;

  constructor(message: string, next: string, exit: ExitCode = EXIT.conflict) {
    super(message);
    this.name = 'PartialFailure';
    this.exit = exit;
    this.next = next;
  }
}

/** @param code for scripts, beside the exit code */
const told = (exit: ExitCode, code: string, message: string, next: string) => ({ exit, code, message, next });

export type Told = ReturnType<typeof told>;

/** The sentence and exit code of a failure; undefined for a defect of `ori-admin`. */
export function tell(error: unknown): Told | undefined {
  if (error instanceof UsageError) return told(EXIT.usage, 'usage', error.message, error.next);
  if (error instanceof PartialFailure) return told(error.exit, 'partial', error.message, error.next);
  if (error instanceof ConfigError) {
    const next = 'Set it in the environment: ori-admin --help lists every name.';
    return told(EXIT.usage, 'configuration', error.message, next);
  }
  if (error instanceof AdminError) {
    const [exit, next] = OF_ADMIN[error.code];
    return told(exit, error.code, toSentence(error.message), next);
  }
  if (error instanceof SealingError) {
    const next = 'Check that ORI_ADMIN_…_KEK_FILE is the ring that the service reads.';
    return told(EXIT.usage, error.code, error.message, next);
  }
  if (error instanceof KmsError) {
    const next = 'Check ORI_ADMIN_…_KMS_URL, its token and its key. Nothing was written.';
    const exit = error.code === 'unavailable' ? EXIT.unavailable : EXIT.conflict;
    return told(exit, `kms_${error.code}`, toSentence(error.message), next);
  }
  if (error instanceof SecretFileError) {
    const next = 'Check the path and who may read it.';
    return told(EXIT.usage, 'file_unreadable', toSentence(error.message), next);
  }
  if (error instanceof MigrationError) return tellMigrationError(error);
  if (error instanceof StoreUnavailable) {
    const reach = 'Check the address in ORI_ADMIN_DATABASE_URL and that the server runs, then repeat.';
    const next = error.code === 'contended' ? 'Repeat the command.' : reach;
    return told(EXIT.unavailable, 'database_unavailable', reasonOf(error), next);
  }
  return tellDatabaseError(error) ?? tellFileError(error);
}

/** For which Node does not name the file: a folder that was read as one, a full disk. */
const UNNAMED = ['EISDIR', 'ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'];

/** Of any file that the command line names. */
function tellFileError(error: unknown): Told | undefined {
  if (!(error instanceof Error && 'syscall' in error)) return undefined;
  const code = systemErrorCode(error);
  if (!('path' in error) && !UNNAMED.includes(code)) return undefined;
  const what = 'path' in error ? JSON.stringify(error.path) : 'a file';
  const next = 'Check the path, and who may read or write there.';
  return told(EXIT.usage, 'file_unusable', `Cannot use ${what} (${code}).`, next);
}

const OF_ADMIN: Readonly<Record<AdminErrorCode, readonly [exit: ExitCode, next: string]>> = {
  invalid_input: [EXIT.usage, 'Nothing was stored. Correct the value and repeat.'],
  not_found: [EXIT.notFound, 'Find the right id with the list command of its kind.'],
  conflict: [EXIT.conflict, 'Nothing was changed. Check the current state first.'],
};

function tellMigrationError({ code, message, cause }: MigrationError): Told {
  const exit = code === 'migration_failed' ? EXIT.unexpected : EXIT.conflict;
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  return told(exit, code, toSentence(`${message}${why}`), 'The database is unchanged.');
}

/** Errors that the database reports for a statement: an old schema, or a login without the privilege. */
function tellDatabaseError(error: unknown): Told | undefined {
  if (!(error instanceof Error && 'code' in error)) return undefined;
  if (error.code === '42P01' || error.code === '42703') {
    const what = 'The database is not at this version.';
    return told(EXIT.conflict, 'database_not_migrated', what, 'Run ori-admin migrate.');
  }
  if (error.code !== '42501') return undefined;
  return told(
    EXIT.usage,
    'privilege_missing',
    `The login of ORI_ADMIN_DATABASE_URL may not do this: ${error.message}.`,
    "Use an operator's login, a member of ori_operator; migrate needs the login that owns the database.",
  );
}

/** The reason that the database gave, if any: `password authentication failed …`. */
function reasonOf(error: StoreUnavailable): string {
  const { cause } = error;
  const why = cause instanceof Error && 'severity' in cause ? ` Its message: ${cause.message}.` : '';
  return `${error.message}${why}`;
}
