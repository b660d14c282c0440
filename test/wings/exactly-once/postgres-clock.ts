import type { PostgresServer } from '../../env/postgres-server.ts';
import type { Fault } from '../../lab/exactly-once/stage.ts';
import { STEP_MS } from '../../lab/exactly-once/stores/any-store.ts';
import { ask } from './postgres-single.ts';

/** After this time spent proofs have expired under every policy. */
const LONG_MS = 1_200_000;
const FORGOTTEN_MS_MAX = 15_000;

/** Replaces the function through which the store reads the server's clock. */
export function postgresClockFaults(primary: () => PostgresServer): {
  readonly faults: Readonly<Record<string, Fault>>;
  /** SQL that sets the clock to this world's time, for a newly installed ledger. */
  readonly clockSql: () => string;
} {
  let passedMs = 0;
  const clockSql = (
    stepMs = 0,
  ): string => `CREATE OR REPLACE FUNCTION ori_replay.clock() RETURNS double precision
    LANGUAGE sql VOLATILE AS $$ SELECT extract(epoch FROM pg_catalog.clock_timestamp())::double precision
      + ${(passedMs + stepMs) / 1000} $$`;
  const setClock = async (stepMs = 0): Promise<void> => void (await ask(primary().url, clockSql(stepMs)));
  const floor = async (): Promise<number> =>
    Number((await ask(primary().url, 'SELECT floor FROM ori_replay.ledger'))[0]?.['floor']);

  const faults: Record<string, Fault> = {
    async 'server clock steps'({ pause, random, refuses }) {
      await setClock(random.pick([STEP_MS, -STEP_MS]));
      await pause(700);
      await refuses(100, 500);
      await setClock();
    },

    /** Proofs that were dropped because of their age become timely again for the server and all verifiers. */
    async 'time passes, then all clocks go back'({ verifiers, sleep, clock, pause, random, worst }) {
      const before = await floor();
      passedMs += LONG_MS;
      sleep(LONG_MS);
      await setClock();
      const untilMs = Date.now() + FORGOTTEN_MS_MAX;
      while ((await floor()) <= before && Date.now() < untilMs) await pause(200);
      for (const index of verifiers.keys()) clock(index, -LONG_MS);
      await setClock(-LONG_MS);
      await pause(random.between(800, 1600));
      for (const index of verifiers.keys()) clock(index, 0);
      await setClock();
      worst();
    },
  };
  return { faults, clockSql };
}
