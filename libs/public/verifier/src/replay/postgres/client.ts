import { UnavailableError } from '@ori/proof/wire';
import { surviveErrors, within } from '../shared-store.ts';
import type { Verdict } from '../verdict.ts';

/**
 * The interface that the store needs from a pool. A `Pool` of pg 8 satisfies it. Your own pool must lend a connection
 * to one caller at a time and never send a statement twice. Test the store over it with `requireReplayStore` of
 * '@ori/verifier/testing'.
 */
export interface PostgresPool {
  readonly options: { readonly connectionTimeoutMillis?: number | undefined };
  connect(): Promise<PostgresConnection>;
  on(event: 'connect', listener: (connection: Pick<PostgresConnection, 'on'>) => void): unknown;
}

/** A connection of the pool. */
export interface PostgresConnection {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
  on(event: 'notice' | 'error', listener: (notice: { severity?: string | undefined }) => void): unknown;
  off(event: 'notice' | 'error', listener: (notice: { severity?: string | undefined }) => void): unknown;
  /** Closes the connection if `destroy` is true. */
  release(destroy?: boolean): void;
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
export function createFunctionCaller(pool: PostgresPool, limits: Limits): CallFunction {
  return async (name, args) => {
    try {
      return toAnswer(await callOnce(pool, limits, name, args));
    } catch (error) {
      throw toUnavailable(error);
    }
  };
}

/**
 * The pool emits errors of idle connections, but not those of connections in use; and a server can close a connection
 * while it is being opened, before a caller has it.
 */
export function survivePoolErrors(pool: PostgresPool): void {
  if (surviveErrors(pool)) pool.on('connect', surviveErrors);
}

const doNothing = (): void => undefined;

/** Whether the server sent nothing: neither an answer nor an error. */
export function isSilence(error: UnavailableError): boolean {
  return error.cause instanceof Silence;
}

class Silence extends Error {}

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
  const listen = (notice: { severity?: string | undefined }): void => {
    if (notice.severity === undefined || notice.severity === 'WARNING') isDoubtful = true;
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
      throw new UnavailableError('replay_store_unavailable', 'no connection to the server', { cause });
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
  return code.startsWith('53') && code !== '53300'
    ? new UnavailableError('replay_store_full', 'the server is out of memory or disk', { cause: error })
    : new UnavailableError('replay_store_unavailable', 'the store did not answer', { cause: error });
}
