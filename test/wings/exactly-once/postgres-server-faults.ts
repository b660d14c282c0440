import type { PostgresServer } from '../../env/postgres-server.ts';
import { halfOpen } from '../../lab/exactly-once/half-open.ts';
import type { Fault } from '../../lab/exactly-once/stage.ts';
import { postgresClockFaults } from './postgres-clock.ts';
import { ask } from './postgres-single.ts';

/** Settings under which a commit can be lost, and how to put them back. */
const UNSAFE_SETTINGS: readonly (readonly [harm: string, fix: string])[] = [
  ['ALTER SYSTEM SET full_page_writes = off', 'ALTER SYSTEM RESET full_page_writes'],
  ['ALTER ROLE postgres SET synchronous_commit = off', 'ALTER ROLE postgres RESET synchronous_commit'],
  [
    "ALTER DATABASE postgres SET default_transaction_isolation = 'repeatable read'",
    'ALTER DATABASE postgres RESET default_transaction_isolation',
  ],
];

const SESSIONS = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
  WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'`;

/** Faults of one PostgreSQL server that are repaired in place. */
export function postgresServerFaults(
  primary: () => PostgresServer,
  schema: string,
  whole: () => Promise<void>,
): Readonly<Record<string, Fault>> {
  const clocks = postgresClockFaults(primary);
  return {
    ...clocks.faults,

    async frozen({ pause, random, worst }) {
      await primary().freeze();
      await pause(random.between(100, 2500));
      await primary().thaw();
      worst();
      await whole();
    },

    async 'sessions ended'({ worst }) {
      await ask(primary().url, SESSIONS);
      worst();
    },

    /** Waits until some way into a second, so that proofs stamped ahead outlive it. */
    async 'spends emptied by someone'({ worst, pause, random }) {
      await pause(random.between(300, 700) + 1000 - (Date.now() % 1000));
      await ask(primary().url, 'TRUNCATE ori_replay.spent');
      worst();
      await pause(200);
    },

    async 'dropped and installed again'({ worst }) {
      await ask(primary().url, `DROP SCHEMA ori_replay CASCADE; ${schema}; ${clocks.clockSql()}`);
      worst();
    },

    async 'tables locked'({ worst, pause, random }) {
      const seconds = random.between(0.2, 1.5).toFixed(2);
      const locked = ask(
        primary().url,
        `BEGIN; LOCK TABLE ori_replay.spent IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(${seconds}); COMMIT`,
      );
      await pause(200);
      worst();
      await locked;
    },

    async 'settings changed'({ pause, random, refuses }) {
      const { url } = primary();
      const [harm, fix] = random.pick(UNSAFE_SETTINGS);
      await ask(url, harm);
      await ask(url, `SELECT pg_reload_conf(); ${SESSIONS}`);
      await pause(1000);
      await refuses(100, 1000);
      await ask(url, fix);
      await ask(url, `SELECT pg_reload_conf(); ${SESSIONS}`);
      await whole();
    },

    'half-open, requests lost': (stage) => halfOpen(stage, primary(), 'deaf'),
    'half-open, answers lost': (stage) => halfOpen(stage, primary(), 'mute'),
  };
}
