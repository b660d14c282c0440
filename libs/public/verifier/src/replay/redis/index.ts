export type { SharedReplayStore, SharedReplayStoreOptions } from '../shared-store.ts';
export type { RedisClient, RedisClientOptions } from './client.ts';
export { spentKey } from './keys.ts';
export type { NodeRedisClient } from './node-redis.ts';
export { issuedKey, issuedValue, loadRedisScripts } from './reservation.ts';
export { REDIS_SCRIPTS, type RedisScriptName } from './scripts.ts';
export { type RedisReplayStoreOptions, redisReplayStore } from './store.ts';
