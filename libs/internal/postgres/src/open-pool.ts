import type { Socket } from 'node:net';
import pg from 'pg';
import { requireAddress } from './address.ts';
import { createGuardedPool, type GuardedPool } from './guarded-pool.ts';
import type { StatementPool } from './statements.ts';

export interface PoolOptions {
  /** `postgres://…`; contains a password, so it is never part of a message. */
  readonly url: string;
  /** Settings of each connection, as `-c name=value`. */
  readonly settings?: string | undefined;
  /** Refuses a connection before it is used, by throwing. */
  readonly check?: ((client: pg.ClientBase) => Promise<void>) | undefined;
  readonly poolMax?: number;
  /** Timeout of one statement; 0 means none (migrations). Default 2,000. */
  readonly statementTimeoutMs?: number;
  /** Timeout for acquiring a connection, including the wait for a free one. Default 2,000. */
  readonly connectTimeoutMs?: number;
  /** The name in `pg_stat_activity`. */
  readonly applicationName?: string;
  /** Called with the socket of each new connection. */
  readonly onConnect?: ((socket: Socket) => void) | undefined;
}

const INT8 = 20;
/**
 * pg's own timeouts are only a fallback for the pool's, because they also elapse while this process is too busy to read.
 */
const BACKSTOP = 2;

function parseInteger(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}

/** `int8` as a number, as in PGlite; everything else as in pg. */
const types: pg.CustomTypesConfig = {
  getTypeParser(oid, format) {
    if (oid === INT8 && format !== 'binary') return parseInteger;
    return pg.types.getTypeParser(oid, format);
  },
};

/**
 * A pool on a PostgreSQL server. Nothing is connected before the first query. An answer, or `StoreUnavailable`,
 * comes within `connectTimeoutMs + statementTimeoutMs`, even from a server that accepts connections and then sends nothing.
 *
 * The server cancels a slow statement shortly before the client times out, so the connection is lost only if the server
 * does not answer at all.
 *
 * @throws TypeError if the URL is not a PostgreSQL URL, or sets `options` beside `settings`
 */
export function openPool(options: PoolOptions): StatementPool & { readonly pool: GuardedPool } {
  const { url, settings, check, poolMax = 10, statementTimeoutMs = 2000, connectTimeoutMs = 2000 } = options;
  requireAddress(url);
  if (settings !== undefined && /[?&]options=/.test(url)) {
    throw new TypeError('url: `options` in the address cannot be combined with a role or an actor');
  }
  const config: pg.PoolConfig = {
    connectionString: url,
    application_name: options.applicationName ?? 'ori',
    max: poolMax,
    connectionTimeoutMillis: BACKSTOP * connectTimeoutMs,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: 1800,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
    ...(settings === undefined ? {} : { options: settings }),
    ...(statementTimeoutMs === 0
      ? {}
      : {
          query_timeout: BACKSTOP * statementTimeoutMs,
          statement_timeout: Math.max(1, Math.floor(statementTimeoutMs * 0.9)),
          idle_in_transaction_session_timeout: 10_000,
        }),
  };
  const pool = createGuardedPool(config, { connectTimeoutMs, statementTimeoutMs }, check, options.onConnect);
  async function query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    const client = await pool.connect();
    try {
      return (await client.query(text, values)).rows;
    } finally {
      client.release();
    }
  }
  return { pool, query, close: () => pool.end(), connections: pool.connections };
}
