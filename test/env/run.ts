/** What global-setup.ts started, as provided to every test file. */
export interface Backends {
  readonly redisUrl: string;
  /** The database `postgres` of the shared PostgreSQL, with the superuser's login. */
  readonly postgresUrl: string;
  /** The folder of what ships, built for this run. */
  readonly programs: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    backends: Backends;
  }
}

const inject = '__vitest_worker__' in globalThis ? (await import('vitest')).inject : undefined;

/** Undefined in a script outside of a test run. */
export function providedBackends(): Backends | undefined {
  return inject?.('backends');
}
