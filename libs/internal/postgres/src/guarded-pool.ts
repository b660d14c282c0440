import { once } from 'node:events';
import { Socket } from 'node:net';
import { lagTolerantTimers } from '@ori/runtime/lag-tolerant-timer';
import pg from 'pg';
import { FileTolerantClient } from './file-tolerant-client.ts';
import { createStatementNames } from './statement-names.ts';
import { StoreUnavailable, unavailableAtConnect, unavailableFrom } from './store-unavailable.ts';

/** How long a server may take to acknowledge an orderly close. */
const FAREWELL_MS = 500;

/** A client that exposes its socket, so that a connection to a frozen server can be destroyed. */
class SocketClient extends FileTolerantClient {
  readonly socket: Socket;

  constructor(config?: pg.ClientConfig) {
    const socket = new Socket();
    super({ ...config, stream: () => socket });
    this.socket = socket;
  }

  /** pg reads dates of no other style, and a database can have one. PgBouncer takes this setting too. */
  getStartupConf(): object {
    const { getStartupConf } = pg.Client.prototype as unknown as SocketClient;
    return { ...getStartupConf.call(this), DateStyle: 'ISO' };
  }
}

/** Statements of one checked-out connection; a connection that failed once is never given back to the pool. */
function guardClient(
  client: pg.PoolClient,
  nameOf: ReturnType<typeof createStatementNames>,
  statementTimeoutMs: number,
) {
  /** Why the connection is not used any more. */
  let broken: StoreUnavailable | undefined;
  const onError = (error: unknown): void => {
    broken ??= unavailableAtConnect(error); // a checked-out client without this listener would end the process
  };
  client.on('error', onError);
  const query = async (text: string, values: readonly unknown[]): Promise<pg.QueryResult> => {
    // Skips the rollback of a transaction that failed with its connection: the server rolls back when the connection
    // ends. kysely reports what its rollback throws, which is therefore why the transaction failed.
    if (broken) throw broken;
    try {
      const name = nameOf(text, values);
      const answer = client.query({ text, values: [...values], ...(name === undefined ? {} : { name }) });
      return await (statementTimeoutMs === 0
        ? answer
        : within(statementTimeoutMs, answer, 'Timed out waiting for the answer to a statement.'));
    } catch (error) {
      const unavailable = unavailableFrom(error);
      if (unavailable === undefined) throw error;
      // The server itself ended a statement that was slow or contended, so the connection is intact. After any other
      // error it is not trusted.
      if (!isServerCancel(error) && unavailable.code !== 'contended') broken ??= unavailable;
      throw unavailable;
    }
  };
  const release = (discard?: boolean): void => {
    client.removeListener('error', onError);
    client.release(broken !== undefined || discard === true);
  };
  return { query, release };
}

export type GuardedClient = ReturnType<typeof guardClient>;

function isServerCancel(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && 'code' in error && error.code === '57014';
}

/** In milliseconds. */
export interface PoolTimes {
  /** To acquire a connection. */
  readonly connectTimeoutMs: number;
  /** For the answer to a statement; 0: no limit. */
  readonly statementTimeoutMs: number;
}

/**
 * A `pg` pool with strict time limits that never ends the process: errors of idle connections only drop them, failures become
 * `StoreUnavailable`.
 *
 * @param onConnect called with the socket of each new connection
 * @param check called with each new connection before it is used, and again after a second; the connection is refused if
 * it throws
 */
export function createGuardedPool(
  config: pg.PoolConfig,
  { connectTimeoutMs, statementTimeoutMs }: PoolTimes,
  check?: (client: pg.ClientBase) => Promise<void>,
  onConnect?: (socket: Socket) => void,
) {
  const pool = new pg.Pool({ ...config, Client: SocketClient });
  const nameOf = createStatementNames();
  const sockets = new Set<Socket>();
  pool.on('error', () => {}); // pg has dropped the idle connection already; the next request opens another
  pool.on('connect', (client) => {
    if (!(client instanceof SocketClient)) return;
    sockets.add(client.socket);
    client.socket.once('close', () => sockets.delete(client.socket));
    // With TLS, it is not the socket that the client was created with.
    onConnect?.((client as unknown as { connection: { stream: Socket } }).connection.stream);
  });

  return {
    options: config,
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    async connect(): Promise<GuardedClient> {
      const pending = check === undefined ? pool.connect() : checked(pool.connect(), check);
      const late = 'Timed out acquiring a database connection.';
      const client = await within(connectTimeoutMs, pending, late).catch((error) => {
        pending.then((unwanted) => unwanted.release()).catch(() => {});
        throw unavailableAtConnect(error);
      });
      return guardClient(client, nameOf, statementTimeoutMs);
    },
    async end(): Promise<void> {
      await pool.end();
      // pg's `end` does not wait until the server closes the connection; a server that never does would keep Node alive.
      const closed = [...sockets].map((socket) => once(socket, 'close'));
      const abandon = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, FAREWELL_MS);
      await Promise.allSettled(closed);
      clearTimeout(abandon);
    },
  };
}

export type GuardedPool = ReturnType<typeof createGuardedPool>;

/** How long a connection counts as checked, in milliseconds: PgBouncer can put another server behind an open one. */
const CHECKED_MS = 1000;
const checkedAtMs = new WeakMap<pg.PoolClient, number>();

async function checked(
  connecting: Promise<pg.PoolClient>,
  check: (client: pg.ClientBase) => Promise<void>,
): Promise<pg.PoolClient> {
  const client = await connecting;
  const nowMs = performance.now();
  if (nowMs - (checkedAtMs.get(client) ?? Number.NEGATIVE_INFINITY) < CHECKED_MS) return client;
  const onError = (): void => {}; // the query fails too; without a listener the process would end
  client.on('error', onError);
  try {
    await check(client);
  } catch (error) {
    client.release(true);
    throw error;
  } finally {
    client.removeListener('error', onError);
  }
  checkedAtMs.set(client, nowMs);
  return client;
}

/**
 * The result of the work, with a timeout that counts only time in which this process could run. pg's own timeouts also
 * elapse while the process is too busy to read, and the one on connecting restarts when a waiting request gets a new
 * connection.
 */
async function within<T>(ms: number, work: Promise<T>, lateMessage: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const cancel = lagTolerantTimers(ms)(() => reject(new StoreUnavailable('timed_out', lateMessage)));
  try {
    return await Promise.race([work, late]);
  } finally {
    cancel();
  }
}
