import type { PostgresConnection, PostgresPool } from './client.ts';

/** The interface that the store needs from the result of postgres.js 3's `postgres()`. */
export interface PostgresJs {
  readonly options: { readonly connect_timeout: number };
  reserve(): Promise<{
    // biome-ignore lint/suspicious/noExplicitAny: its own parameter type cannot be named by this package.
    unsafe(text: string, values: any[]): PromiseLike<readonly unknown[]>;
    release(): void;
  }>;
}

export function isPostgresJs(given: PostgresPool | PostgresJs): given is PostgresJs {
  return typeof given === 'function' && 'reserve' in given;
}

/**
 * Adapts it to the interface of pg's pool. It cannot close a single connection: one without an answer is returned when
 * the answer arrives.
 * @throws {TypeError} `replicas` is not 0: it does not report warnings, such as that a standby did not confirm.
 */
export function adaptPostgresJs(sql: PostgresJs, replicas: number): PostgresPool {
  if (replicas > 0)
    throw new TypeError('replicas: expected 0 with postgres.js; use a pool of pg if you have standbys');
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
