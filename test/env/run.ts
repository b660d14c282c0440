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
    /** Where global-setup.ts answers; for mutants, the parts themselves. */
    backends: string | Backends;
  }
}

const inject = '__vitest_worker__' in globalThis ? (await import('vitest')).inject : undefined;

/** Whether this is a test run, whose files share one of each. */
export const isTestRun = inject !== undefined;

/** What the run shares, started when it is first asked for. Undefined in a script outside of a test run. */
export async function sharedBackend(name: keyof Backends): Promise<string | undefined> {
  const given = inject?.('backends');
  if (typeof given !== 'string') return given?.[name];
  const answer = await fetch(`${given}/${name}`);
  if (!answer.ok) throw new Error(await answer.text());
  return await answer.text();
}
