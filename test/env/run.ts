import type { PostgresOrigin } from './postgres-server.ts';
import type { RedisOrigin } from './redis-server.ts';

/** The servers that global-setup.ts chose and started, as provided to every test file. */
export interface Backends {
  /** Lower-case, unique per run. Part of every name that outlives a test on an external server. */
  readonly runId: string;
  readonly redis: { readonly origin: RedisOrigin; readonly url: string };
  readonly postgres: { readonly origin: PostgresOrigin; readonly url: string };
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
