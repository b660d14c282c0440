import { Redis } from 'ioredis';
import { startRedisContainer } from './redis-server.ts';

/** Exits with 0 if the Docker engine from the environment can start a Redis that answers. */
await using server = await startRedisContainer({});
const redis = new Redis(server.url);
try {
  await redis.ping();
} finally {
  redis.disconnect();
}
