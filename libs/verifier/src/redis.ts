export { loadRedisScripts, type RedisClient, type RedisClientOptions } from './redis-client.ts';
export { issuedKey, issuedValue, spentKey } from './redis-keys.ts';
export {
  type RedisReplayStore,
  type RedisReplayStoreOptions,
  redisReplayStore,
} from './redis-replay-store.ts';
export { REDIS_SCRIPTS, type RedisScriptName } from './redis-scripts.ts';
