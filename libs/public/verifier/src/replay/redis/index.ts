export type { SharedReplayStore, SharedReplayStoreOptions } from '../shared-store.ts';
export { loadRedisScripts, type RedisClient, type RedisClientOptions } from './client.ts';
export { issuedKey, issuedValue, spentKey } from './keys.ts';
export type { NodeRedisClient } from './node-redis.ts';
export { REDIS_SCRIPTS, type RedisScriptName } from './scripts.ts';
export { type RedisReplayStoreOptions, redisReplayStore } from './store.ts';
