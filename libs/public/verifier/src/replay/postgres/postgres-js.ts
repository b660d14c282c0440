import type { PostgresConnection, PostgresPool } from './client.ts';

/** The interface that the store needs from the result of postgres.js 3's `postgres()`. */
export interface PostgresJs {
  readonly options: { readonly connect_timeout: number };
  // biome-ignore lint/suspicious/noExplicitAny: its own parameter type cannot be named by this package.
  unsafe(text: string, values: any[]): PromiseLike<readonly unknown[]>;
}

export function isPostgresJs(given: PostgresPool | PostgresJs): given is PostgresJs {
  return typeof given === 'function' && 'unsafe' in given;
}

/**
 * Adapts it to the interface of pg's pool. It chooses the connection of each statement itself: one that its `reserve` takes is lost
 * to it when the server closes it, and may end the process.
 * @throws {TypeError} `replicas` is not 0: it does not report warnings, such as that a standby did not confirm.
 */
export function adaptPostgresJs(sql: PostgresJs, replicas: number): PostgresPool {
  if (replicas > 0)
    throw new TypeError('replicas: expected 0 with postgres.js; use a pool of pg if you have standbys');
  const connection: PostgresConnection = {
    query: async (text, values) => ({ rows: [...(await sql.unsafe(text, values))] }),
    on: () => undefined,
    off: () => undefined,
    release: () => undefined,
  };
  return {
    options: { connectionTimeoutMillis: sql.options.connect_timeout * 1000 },
    connect: async () => connection,
    on: () => undefined,
  };
}
