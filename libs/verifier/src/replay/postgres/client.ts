import { UnavailableError } from '@ori/proof';
import type { Verdict } from '../verdict.ts';

/** What is used of a `Pool` of pg 8. */
export interface PostgresPool {
  readonly options: { readonly connectionTimeoutMillis?: number | undefined };
  connect(): Promise<PostgresConnection>;
  on(event: 'connect', listener: (connection: Pick<PostgresConnection, 'on'>) => void): unknown;
}

/** What is used of the connections that the pool lends. */
export interface PostgresConnection {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>;
  on(event: 'notice' | 'error', listener: (notice: { severity?: string | undefined }) => void): unknown;
  off(event: 'notice' | 'error', listener: (notice: { severity?: string | undefined }) => void): unknown;
  /** With true the connection is closed. */
  release(destroy?: boolean): void;
}

/** What a function of the schema said. */
export interface PostgresAnswer extends Verdict {
  /** Unix seconds: when something could last have been lost. Absent from an unsafe server. */
  readonly event?: number;
  readonly identity?: string;
  readonly lsn?: string;
  /** Of a touch: a partition waits to be emptied. */
  readonly due?: boolean;
  /** Of a touch: of the functions. */
  readonly version?: number;
}

/** Throws TypeError for what is no pool, and for one that waits for ever for a server that is out of reach. */
export function requirePostgresPool(pool: PostgresPool): void {
  if (typeof pool?.connect !== 'function') throw new TypeError('postgresReplayStore: expected a pool of pg');
  if (!(Number(pool.options?.connectionTimeoutMillis) > 0)) {
    throw new TypeError('postgresReplayStore: the pool must be made with connectionTimeoutMillis');
  }
}

/** Calls a function once. Without an answer in time it counts as done, and the connection that owes it is closed. */
export type CallFunction = (name: string, args: readonly unknown[]) => Promise<PostgresAnswer>;

/** Turns whatever fails into an UnavailableError; `isSilence` tells the one where no answer came. */
export function createFunctionCaller(pool: PostgresPool, timeoutMs: number): CallFunction {
  return async (name, args) => {
    try {
      return toAnswer(await callOnce(pool, timeoutMs, name, args));
    } catch (error) {
      throw toUnavailable(error);
    }
  };
}

/**
 * Keeps the process alive: pg ends it over the error of a connection that nobody listens to, and the pool listens to those
 * only that are not lent. A server can dismiss a connection as it lets it in, before whoever asked for it holds it.
 */
export function surviveErrors(pool: PostgresPool): void {
  if (surviving.has(pool)) return;
  surviving.add(pool);
  pool.on('connect', (connection) => void connection.on('error', doNothing));
}

const surviving = new WeakSet<PostgresPool>();
const doNothing = (): void => undefined;

/** Whether nothing was heard from the server: neither an answer nor a refusal. */
export function isSilence(error: UnavailableError): boolean {
  return error.cause instanceof Silence;
}

class Silence extends Error {}

async function callOnce(
  pool: PostgresPool,
  timeoutMs: number,
  name: string,
  args: readonly unknown[],
): Promise<unknown> {
  const places = args.map((_, index) => `$${index + 1}`).join(', ');
  let connection: PostgresConnection | undefined;
  let isOver = false;
  let isDoubtful = false;
  let isSilent = false;
  // A wait for a standby that somebody cancels ends with a warning, and a commit that looks like any other.
  const listen = (notice: { severity?: string | undefined }): void => {
    if (notice.severity === undefined || notice.severity === 'WARNING') isDoubtful = true;
  };
  const give = (lent: PostgresConnection, destroy: boolean): void => {
    lent.off('notice', listen);
    lent.release(destroy);
    if (!destroy) lent.off('error', doNothing);
  };
  const ask = async (): Promise<unknown> => {
    const lent = await pool.connect();
    if (isOver) return lent.release();
    connection = lent;
    lent.on('notice', listen);
    lent.on('error', doNothing);
    return (await lent.query(`SELECT * FROM ori_replay.${name}(${places})`, [...args])).rows[0];
  };
  let timer: NodeJS.Timeout | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      isSilent = true;
      reject(new Silence(`no answer within ${timeoutMs} ms`));
    }, timeoutMs);
  });
  try {
    const row = await Promise.race([ask(), silence]);
    if (isDoubtful)
      throw new UnavailableError('replay_store_unsafe', 'the server warned that the spend may be lost');
    return row;
  } finally {
    isOver = true;
    clearTimeout(timer);
    if (connection !== undefined) give(connection, isSilent || isDoubtful);
  }
}

function toAnswer(row: unknown): PostgresAnswer {
  const { verdict, detail, event, identity, lsn, pause, due, version } = (row ?? {}) as Record<
    string,
    unknown
  >;
  if (typeof verdict !== 'string')
    throw new UnavailableError('replay_store_unavailable', 'the store gave no verdict');
  if (verdict === 'unsafe') return { verdict, detail: String(detail) };
  return {
    verdict,
    event: Number(event),
    identity: String(identity),
    lsn: String(lsn),
    ...(typeof pause === 'number' ? { retryAfterSeconds: pause } : {}),
    ...(due === true ? { due } : {}),
    ...(typeof version === 'number' ? { version } : {}),
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
