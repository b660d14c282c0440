import pg from 'pg';
import { postgresReplayStore } from '../../../libs/public/verifier/src/replay/postgres/store.ts';

/** The settings from the parent test. */
export interface PoolTask {
  readonly url: string;
}

// A daemon without an error listener on its pool: opens an idle connection, reports it, and waits to be told to exit.
process.once('message', async ({ url }: PoolTask) => {
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 5000 });
  postgresReplayStore(pool, { replicas: 0, touchSeconds: 60 });
  const { rows } = await pool.query('SELECT pg_backend_pid() AS pid');
  pool.on('remove', () => process.send?.('dismissed'));
  process.send?.(rows[0].pid);
  process.once('message', () => process.exit(0));
});
