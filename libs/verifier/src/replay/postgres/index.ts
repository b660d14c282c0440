export type { PostgresConnection, PostgresPool } from './client.ts';
export { POSTGRES_REPLAY_SQL } from './schema.ts';
export {
  type PostgresReplayStore,
  type PostgresReplayStoreOptions,
  postgresReplayStore,
} from './store.ts';
