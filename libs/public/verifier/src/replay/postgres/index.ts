export type { SharedReplayStore, SharedReplayStoreOptions } from '../shared-store.ts';
export type { PostgresConnection, PostgresPool } from './client.ts';
export type { PostgresJs } from './postgres-js.ts';
export { type PostgresReplayStoreOptions, postgresReplayStore } from './store.ts';
