export type { PostgresConnection, PostgresPool } from './postgres-client.ts';
export {
  type PostgresReplayStore,
  type PostgresReplayStoreOptions,
  postgresReplayStore,
} from './postgres-replay-store.ts';
export { POSTGRES_REPLAY_SQL } from './postgres-schema.ts';
