import pg from 'pg';
import { postgresReplayStore } from '../../../libs/verifier/src/replay/postgres/store.ts';

/** What the test that forks this process gives it. */
export interface PoolTask {
  readonly url: string;
}

// A daemon whose author forgot to listen for errors of the pool: has an idle connection, says so, and stays until told to go.
process.once('message', async ({ url }: PoolTask) => {
  const pool = new pg.Pool({ connectionString: url, connectionTimeoutMillis: 5000 });
  postgresReplayStore(pool, { replicas: 0, touchSeconds: 60 });
  const { rows } = await pool.query('SELECT pg_backend_pid() AS pid');
  pool.on('remove', () => process.send?.('dismissed'));
  process.send?.(rows[0].pid);
  process.once('message', () => process.exit(0));
});
