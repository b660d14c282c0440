import type { PostgresConnection, PostgresPool } from './client.ts';

/** What is used of what `postgres()` of postgres.js 3 returns. */
export interface PostgresJs {
  readonly options: { readonly connect_timeout: number };
  reserve(): Promise<{
    // biome-ignore lint/suspicious/noExplicitAny: its own type of a parameter is none that this package can name.
    unsafe(text: string, values: any[]): PromiseLike<readonly unknown[]>;
    release(): void;
  }>;
}

export function isPostgresJs(given: PostgresPool | PostgresJs): given is PostgresJs {
  return typeof given === 'function' && 'reserve' in given;
}

/**
 * A pool in pg's shape. It cannot close a single connection: one that owes an answer goes back when the answer comes.
 * @throws {TypeError} with replicas: it does not show a statement's warnings, of which one says that a standby did not confirm.
 */
export function adaptPostgresJs(sql: PostgresJs, replicas: number): PostgresPool {
  if (replicas > 0)
    throw new TypeError('replicas: with postgres.js expected 0; use a pool of pg where standbys count');
  return {
    options: { connectionTimeoutMillis: sql.options.connect_timeout * 1000 },
    async connect() {
      const reserved = await sql.reserve();
      let answer: PromiseLike<unknown> = Promise.resolve();
      const connection: PostgresConnection = {
        async query(text, values) {
          const rows = reserved.unsafe(text, values);
          answer = rows;
          return { rows: [...(await rows)] };
        },
        on: () => undefined,
        off: () => undefined,
        release: () => void answer.then(reserved.release, reserved.release),
      };
      return connection;
    },
    on: () => undefined,
  };
}
