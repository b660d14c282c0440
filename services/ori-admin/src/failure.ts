import { ConfigError } from '@ori/runtime/config';
import { SecretFileError } from '@ori/runtime/secret-file';
import { StoreUnavailable } from '@ori/store';
import { AdminError } from '@ori/store/admin';
import { InvalidCredential } from '@ori/store/byok/invalid-credential';
import { MigrationError } from '@ori/store/migrate';
import { KmsError, SealingError } from '@ori/store/sealing';
import type { CommanderError } from 'commander';
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

  constructor(exit: ExitCode, message: string, next: string) {
    super(message);
    this.name = 'PartialFailure';
    this.exit = exit;
    this.next = next;
  }
}

/** How a failure is reported. */
export interface Told {
  readonly exit: ExitCode;
  /** For scripts, beside the exit code. */
  readonly code: string;
  readonly message: string;
  readonly next: string;
}

const NOT_FOUND_NEXT = 'Find the right id with the list command of its kind.';

/** The sentence and exit code of a failure; undefined for a defect of `ori-admin`. */
export function tell(error: unknown): Told | undefined {
  if (error instanceof UsageError) {
    return { exit: EXIT.usage, code: 'usage', message: error.message, next: error.next };
  }
  if (error instanceof PartialFailure) {
    return { exit: error.exit, code: 'partial', message: error.message, next: error.next };
  }
  if (error instanceof ConfigError) {
    const next = 'Set it in the environment: services/ori-admin/README.md lists every name.';
    return { exit: EXIT.usage, code: 'configuration', message: error.message, next };
  }
  if (error instanceof AdminError) return tellAdminError(error);
  if (error instanceof InvalidCredential) {
    const next = 'Nothing was stored. Correct the value and repeat.';
    return { exit: EXIT.usage, code: 'invalid_input', message: error.message, next };
  }
  if (error instanceof SealingError) {
    const next = 'Check that ORI_ADMIN_…_KEK_FILE is the ring that the service reads.';
    return { exit: EXIT.usage, code: error.code, message: error.message, next };
  }
  if (error instanceof KmsError) {
    const next = 'Check ORI_ADMIN_…_KMS_URL, its token and its key. Nothing was written.';
    const exit = error.code === 'unavailable' ? EXIT.unavailable : EXIT.conflict;
    return { exit, code: `kms_${error.code}`, message: toSentence(error.message), next };
  }
  if (error instanceof SecretFileError) {
    const next = 'Check the path and who may read it.';
    return { exit: EXIT.usage, code: 'file_unreadable', message: toSentence(error.message), next };
  }
  if (error instanceof MigrationError) return tellMigrationError(error);
  if (error instanceof StoreUnavailable) {
    const next = 'Check the address in ORI_ADMIN_DATABASE_URL and that the server runs, then repeat.';
    return { exit: EXIT.unavailable, code: 'database_unavailable', message: reasonOf(error), next };
  }
  return tellDatabaseError(error);
}

function tellAdminError({ code, message: reason }: AdminError): Told {
  const message = toSentence(reason);
  switch (code) {
    case 'invalid_input':
      return { exit: EXIT.usage, code, message, next: 'Nothing was stored. Correct the value and repeat.' };
    case 'not_found':
      return { exit: EXIT.notFound, code, message, next: NOT_FOUND_NEXT };
    case 'conflict':
      return {
        exit: EXIT.conflict,
        code,
        message,
        next: 'Nothing was changed. Check the current state first.',
      };
  }
}

function tellMigrationError({ code, message, cause }: MigrationError): Told {
  const failed = code === 'migration_failed' || code === 'index_failed';
  const why = cause instanceof Error ? `: ${cause.message}` : '';
  return {
    exit: failed ? EXIT.unexpected : EXIT.conflict,
    code,
    message: toSentence(`${message}${why}`),
    next:
      code === 'index_failed'
        ? 'Everything else is done, and the services can run. Run ori-admin migrate again.'
        : 'The database is unchanged.',
  };
}

/** Errors that the database reports for a statement: an old schema, or a login without the privilege. */
function tellDatabaseError(error: unknown): Told | undefined {
  const state = error instanceof Error && 'code' in error ? error.code : undefined;
  switch (state) {
    case '42P01':
    case '42703':
      return {
        exit: EXIT.conflict,
        code: 'database_not_migrated',
        message: 'The database is not at this version.',
        next: 'Run ori-admin migrate.',
      };
    case '42501':
      return {
        exit: EXIT.usage,
        code: 'privilege_missing',
        message: `The login of ORI_ADMIN_DATABASE_URL may not do this: ${(error as Error).message}.`,
        next: "Use an operator's login, a member of ori_operator; migrate needs the login that owns the database.",
      };
    default:
      return undefined;
  }
}

/** The reason that the database gave, if any: `password authentication failed …`. */
function reasonOf(error: StoreUnavailable): string {
  const { cause } = error;
  const why = cause instanceof Error && 'severity' in cause ? ` Its message: ${cause.message}.` : '';
  return `${error.message}${why}`;
}

/** The error of commander without the value of an option, which may be a misplaced secret. */
export function fromCommander({ code, message }: CommanderError): UsageError {
  if (code === 'commander.help') return new UsageError('Missing command.');
  const what = message
    .replace(/^error: /, '')
    .replace(/'(--?[\w-]+)=[^']*'/, "'$1'")
    .replace(/\s*\n\s*/g, ' ');
  return new UsageError(toSentence(what));
}

function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1).replace(/\.?$/, '.')}`;
}
