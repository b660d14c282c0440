export type { SharedReplayStore, SharedReplayStoreOptions } from '../shared-store.ts';
export type { PostgresConnection, PostgresPool } from './client.ts';
export type { PostgresJs } from './postgres-js.ts';
export { POSTGRES_REPLAY_SQL } from './schema.ts';
export { type PostgresReplayStoreOptions, postgresReplayStore } from './store.ts';
