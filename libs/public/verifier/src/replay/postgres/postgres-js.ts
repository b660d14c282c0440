import type { PostgresConnection, PostgresPool } from './client.ts';

/** The interface that the store needs from the result of postgres.js 3's `postgres()`. */
export interface PostgresJs {
  readonly options: { readonly connect_timeout: number };
  // biome-ignore lint/suspicious/noExplicitAny: its own parameter type cannot be named by this package.
  unsafe(text: string, values: any[]): PromiseLike<readonly unknown[]>;
  end(options: { timeout: number }): Promise<unknown>;
}

/** How long statements of a replaced client may still take, in seconds. */
const END_SECONDS = 1;

/**
 * Adapts what `make` makes to the interface of pg's pool. It chooses the connection of each statement itself: one that its `reserve`
 * takes is lost to it when the server closes it, and may end the process. So a silent connection is closed with its client, and
 * another client is made.
 * @throws {TypeError} `replicas` is not 0: it does not report warnings, such as that a standby did not confirm.
 */
export function adaptPostgresJs(make: () => PostgresJs, replicas: number) {
  if (replicas > 0)
    throw new TypeError('replicas: expected 0 with postgres.js; use a pool of pg if you have standbys');
  let sql = make();
  if (typeof sql?.unsafe !== 'function')
    throw new TypeError('postgresReplayStore: expected a function that makes a client of postgres.js');
  const end = (): void => void sql.end({ timeout: END_SECONDS }).catch(() => undefined);
  const connection: PostgresConnection = {
    query: async (text, values) => ({ rows: [...(await sql.unsafe(text, values))] }),
    on: () => undefined,
    off: () => undefined,
    release: () => undefined,
  };
  const pool: PostgresPool = {
    options: { connectionTimeoutMillis: sql.options.connect_timeout * 1000 },
    idleCount: 0,
    connect: async () => connection,
    on: () => undefined,
  };
  const reopen = (): void => {
    end();
    sql = make();
  };
  return { pool, reopen, end };
}
