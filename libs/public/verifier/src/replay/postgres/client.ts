import { UnavailableError } from '@ori/proof/wire';
import { surviveErrors, watchSilence, within } from '../shared-store.ts';
import type { Verdict } from '../verdict.ts';

/**
 * The interface that the store needs from a pool. A `Pool` of pg 8 satisfies it. Your own pool must lend a connection
 * to one caller at a time and never send a statement twice. Test the store over it with `requireReplayStore` of
 * '@ori/verifier/testing'.
 */
export interface PostgresPool {
  readonly options: { readonly connectionTimeoutMillis?: number | undefined };
  /** How many connections are open and not lent. They are lent before new ones are opened. */
  readonly idleCount: number;
  connect(): Promise<PostgresConnection>;
  on(event: 'connect', listener: (connection: Pick<PostgresConnection, 'on'>) => void): unknown;
}

/** A connection of the pool. */
export interface PostgresConnection {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
  on(event: 'notice' | 'error', listener: (notice: PostgresNotice) => void): unknown;
  off(event: 'notice' | 'error', listener: (notice: PostgresNotice) => void): unknown;
  /** Closes the connection if `destroy` is true. */
  release(destroy?: boolean): void;
}

/** What a server says besides its answer. It translates the severity and the message, but not the name of the routine. */
export interface PostgresNotice {
  readonly routine?: string | undefined;
}

/** The answer of a function of the schema. */
export interface PostgresAnswer extends Verdict {
  /** Unix seconds: the last time that spends may have been lost. Absent if the server is unsafe. */
  readonly event?: number;
  readonly identity?: string;
  readonly lsn?: string;
  /** `touch` only: there is something to forget. */
  readonly due?: boolean;
  /** `touch` only: the version of the schema. */
  readonly version?: number;
  /** `ask` only: how the call ended, as `CallEnds.parse` reads it. */
  readonly outcome?: string;
}

/** Throws TypeError unless this is a pool with a connection timeout. */
export function requirePostgresPool(pool: PostgresPool): void {
  if (typeof pool?.connect !== 'function') throw new TypeError('postgresReplayStore: expected a pool of pg');
  if (!(Number(pool.options?.connectionTimeoutMillis) > 0)) {
    throw new TypeError('postgresReplayStore: the pool must be made with connectionTimeoutMillis');
  }
  if (typeof pool.idleCount !== 'number') {
    throw new TypeError('postgresReplayStore: the pool must have an idleCount, to close silent connections');
  }
}

/**
 * Calls a function once. `args` makes its arguments when a connection is available, and gets the milliseconds waited for it. Without
 * an answer in time the call counts as done, and its connection is closed.
 */
export type CallFunction = (
  name: string,
  args: (waitedMs: number) => readonly unknown[],
) => Promise<PostgresAnswer>;

interface Limits {
  readonly timeoutMs: number;
  readonly acquireMs: number;
}

/** Turns every failure into an UnavailableError. `isSilence` identifies a missing answer. */
export function createFunctionCaller(
  pool: PostgresPool,
  limits: Limits,
  reopen = () => closeIdle(pool),
): CallFunction {
  const silence = watchSilence(reopen);
  return async (name, args) => {
    try {
      const row = await callOnce(pool, limits, name, args);
      silence.heard();
      return toAnswer(row);
    } catch (error) {
      if (error instanceof Silence) silence.missed();
      throw toUnavailable(error);
    }
  };
}

function closeIdle(pool: PostgresPool): void {
  for (let left = pool.idleCount; left > 0; left -= 1) {
    pool.connect().then((connection) => connection.release(true), doNothing);
  }
}

/**
 * The pool emits errors of idle connections, but not those of connections in use; and a server can close a connection
 * while it is being opened, before a caller has it.
 */
export function survivePoolErrors(pool: PostgresPool): void {
  surviveErrors(pool);
  if (!heard.has(pool)) pool.on('connect', surviveErrors);
  heard.add(pool);
}

const heard = new WeakSet<PostgresPool>();

const doNothing = (): void => undefined;

/** Whether the server sent nothing: neither an answer nor an error. */
export function isSilence(error: UnavailableError): boolean {
  return error.cause instanceof Silence;
}

class Silence extends Error {}

/** The routine of the server that waits for standbys. */
const WAIT_FOR_STANDBY = 'SyncRepWaitForLSN';

async function callOnce(
  pool: PostgresPool,
  { timeoutMs, acquireMs }: Limits,
  name: string,
  makeArgs: Parameters<CallFunction>[1],
): Promise<unknown> {
  const askedMs = performance.now();
  const connection = await acquire(pool, acquireMs);
  const args = makeArgs(performance.now() - askedMs);
  const places = args.map((_, index) => `$${index + 1}`).join(', ');
  let isDoubtful = false;
  let isSilent = false;
  // A canceled wait for a standby ends with a warning and an otherwise normal commit.
  const listen = ({ routine = WAIT_FOR_STANDBY }: PostgresNotice): void => {
    if (routine === WAIT_FOR_STANDBY) isDoubtful = true;
  };
  connection.on('notice', listen);
  connection.on('error', doNothing);
  try {
    const answer = connection.query(`SELECT * FROM ori_replay.${name}(${places})`, [...args]);
    const { rows } = await within(timeoutMs, answer, () => {
      isSilent = true;
      return new Silence(`no answer within ${timeoutMs} ms`);
    });
    if (isDoubtful)
      throw new UnavailableError('replay_store_unsafe', 'the server warned that the spend may be lost');
    return rows[0];
  } finally {
    const destroy = isSilent || isDoubtful;
    connection.off('notice', listen);
    connection.release(destroy);
    if (!destroy) connection.off('error', doNothing);
  }
}

/** A connection of the pool. A wait for one does not mean that the server is slow. One that arrives too late is returned unused. */
async function acquire(pool: PostgresPool, acquireMs: number): Promise<PostgresConnection> {
  let isOver = false;
  const connecting = pool.connect().then(
    (connection) => {
      if (isOver) connection.release();
      return connection;
    },
    (cause: unknown) => {
      const why = `no connection to the server${codeOf(cause)}`;
      throw new UnavailableError('replay_store_unavailable', why, { cause });
    },
  );
  return within(acquireMs, connecting, () => {
    isOver = true;
    const why = `no free connection in the pool within ${acquireMs} ms: increase its size or acquireMs`;
    return new UnavailableError('replay_store_unavailable', why);
  });
}

function toAnswer(row: unknown): PostgresAnswer {
  const { verdict, detail, event, identity, lsn, pause, due, version, outcome } = (row ?? {}) as Record<
    string,
    unknown
  >;
  if (typeof verdict !== 'string')
    throw new UnavailableError('replay_store_unavailable', 'unexpected answer of the store');
  if (verdict === 'unsafe') return { verdict, detail: String(detail) };
  return {
    verdict,
    event: Number(event),
    identity: String(identity),
    lsn: String(lsn),
    ...(typeof pause === 'number' ? { retryAfterSeconds: pause } : {}),
    ...(due === true ? { due } : {}),
    ...(typeof version === 'number' ? { version } : {}),
    ...(typeof outcome === 'string' ? { outcome } : {}),
  };
}

const NOT_INSTALLED = 'the schema ori_replay is missing, old or not granted: install it as the README says';

/** By SQLSTATE. */
const UNSAFE: Readonly<Record<string, string>> = {
  '3F000': NOT_INSTALLED,
  '42883': NOT_INSTALLED,
  '42P01': NOT_INSTALLED,
  '42501': NOT_INSTALLED,
  '25006': 'the server is read-only',
};

function toUnavailable(error: unknown): UnavailableError {
  if (error instanceof UnavailableError) return error;
  const code = String((error as { code?: unknown } | null)?.code ?? '');
  const sentence = UNSAFE[code];
  if (sentence !== undefined) return new UnavailableError('replay_store_unsafe', sentence, { cause: error });
  if (code.startsWith('53') && code !== '53300')
    return new UnavailableError('replay_store_full', 'the server is out of memory or disk', { cause: error });
  const why = SQLSTATE.test(code) ? 'the server refused' : 'the store did not answer';
  return new UnavailableError('replay_store_unavailable', `${why}${codeOf(error)}`, { cause: error });
}

const SQLSTATE = /^[0-9A-Z]{5}$/;

/** By SQLSTATE: what an operator can do something about. The server's own message may contain values, and is only in the `cause`. */
const MEANINGS: Readonly<Record<string, string>> = {
  '28000': 'the login is not allowed',
  '28P01': 'the password is wrong',
  '3D000': 'the database does not exist',
  '53300': 'too many connections',
  '55P03': 'a lock was not free in time',
  '57014': 'the statement was canceled',
  '57P01': 'the server is shutting down',
  '57P03': 'the server is starting',
};

/** `: CODE`, and what it means; empty for an error without a code. */
function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  if (typeof code !== 'string' || !/^[0-9A-Z_]{5,40}$/.test(code)) return '';
  const meaning = MEANINGS[code];
  const name = SQLSTATE.test(code) ? `SQLSTATE ${code}` : code;
  return meaning === undefined ? `: ${name}` : `: ${meaning} (${name})`;
}
