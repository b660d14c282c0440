import { OriError } from '@ori/proof/errors';

/**
 * - `unreachable`: no connection, or a broken one; the server may be down.
 * - `timed_out`: no answer in time; whether the statement ran is unknown.
 * - `refused`: the server refused the connection or the query (starting, stopping, full, wrong credentials).
 * - `standby`: the server is not the primary.
 * - `contended`: concurrent changes kept the transaction from completing (deadlock, serialization).
 * - `outdated`: the database is older than this version, so it is not used.
 * - `overprivileged`: the login has more privileges than its service needs, so it is not used.
 */
export type StoreUnavailableCode =
  | 'unreachable'
  | 'timed_out'
  | 'refused'
  | 'standby'
  | 'contended'
  | 'outdated'
  | 'overprivileged';

/**
 * The database is unavailable. The request may be repeated; the service answers 500 `internal_error`. The error of a
 * statement that the server refused (syntax, privilege, constraint) is thrown unchanged instead.
 */
export class StoreUnavailable extends OriError<StoreUnavailableCode> {
  override readonly name: string = 'StoreUnavailable';
}

const SQLSTATE = /^[0-9A-Z]{5}$/;
const TIMED_OUT = /timeout/i;
const CONNECTION_LOST =
  /connection (terminated|ended|error)|not queryable|PGlite is (closed|closing)|closed state/i;

function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

function fromSqlState(state: string): StoreUnavailableCode | undefined {
  if (state === '57014') return 'timed_out'; // query_canceled: statement_timeout
  if (state === '25P03' || state === '25P04') return 'timed_out'; // idle_in_transaction_session_timeout, transaction_timeout
  if (state === '40P01' || state === '40001') return 'contended'; // deadlock_detected, serialization_failure
  if (state === '25006') return 'refused'; // read_only_sql_transaction: a demoted primary, or one without space
  // PgBouncer: its own refusals, and a prepared statement that is on another of its connections.
  if (state === '08P01' || state === '26000' || state === '42P05') return 'refused';
  if (state.startsWith('08')) return 'unreachable'; // connection exceptions
  if (state.startsWith('57P')) return 'refused'; // shutting down, starting up
  if (state.startsWith('53') || state.startsWith('58')) return 'refused'; // out of resources, system errors
  return undefined;
}

/** The error as `StoreUnavailable` if the database is unavailable; undefined if it answered. */
export function unavailableFrom(error: unknown): StoreUnavailable | undefined {
  if (error instanceof StoreUnavailable) return error;
  if (!(error instanceof Error)) return undefined;
  const code = errorCode(error);
  if (code !== undefined && SQLSTATE.test(code) && 'severity' in error) {
    // The type of a column changed under a prepared statement; another connection plans it again.
    const stalePlan = 'routine' in error && error.routine === 'RevalidateCachedQuery';
    const verdict = stalePlan ? 'refused' : fromSqlState(code);
    return verdict === undefined ? undefined : unavailable(verdict, error);
  }
  if (TIMED_OUT.test(error.message)) return unavailable('timed_out', error);
  if (CONNECTION_LOST.test(error.message)) return unavailable('unreachable', error);
  // Socket and name-resolution errors of Node: ECONNREFUSED, ECONNRESET, EPIPE, ENOTFOUND, EAI_AGAIN …
  if ('syscall' in error || code === 'EPIPE' || code === 'ECONNRESET')
    return unavailable('unreachable', error);
  return undefined;
}

/** A failure while connecting: no statement was sent yet, so for any reason the database is unavailable. */
export function unavailableAtConnect(error: unknown): StoreUnavailable {
  const known = unavailableFrom(error);
  if (known !== undefined) return known;
  const answered = error instanceof Error && 'severity' in error;
  return unavailable(answered ? 'refused' : 'unreachable', error);
}

const SENTENCES = {
  unreachable: 'The database cannot be reached.',
  timed_out: 'The database did not answer in time.',
  refused: 'The database refused the connection or the query.',
  standby: 'The server is a standby; use the address of the primary.',
  contended: 'Concurrent changes kept the transaction from completing.',
  outdated: 'The database is older than this version.',
  overprivileged: 'The login may do more than the service needs.',
} satisfies Record<StoreUnavailableCode, string>;

export function unavailable(code: StoreUnavailableCode, cause?: unknown): StoreUnavailable {
  return new StoreUnavailable(code, SENTENCES[code], { cause });
}
