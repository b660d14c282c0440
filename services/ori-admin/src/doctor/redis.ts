import { connectRedis, pingRedis, redisTime } from '@ori/redis/connection';
import { EvictingRedis, watchEviction } from '@ori/redis/eviction';
import type { Environment } from '@ori/runtime/config';
import { CheckFailed, requireClock } from './finding.ts';
import { loadPart, REDIS } from './settings.ts';

/** The signer's Redis: that it answers, evicts nothing, and has the same time. */
export async function lookAtRedis(env: Environment): Promise<string> {
  const {
    redisUrl,
    redisTlsCertFile: cert,
    redisTlsKeyFile: key,
    redisTlsCaFile: ca,
  } = loadPart('SIGNER', REDIS, env);
  const client = connect(() =>
    connectRedis(redisUrl, { purpose: 'doctor', commandTimeoutMs: 2000, tls: { cert, key, ca } }),
  );
  const eviction = watchEviction(client);
  try {
    await eviction.settled();
    await pingRedis(client);
    await eviction.require().catch(refuseEviction);
    requireClock('Redis', await redisTime(client));
    return 'answers, evicts nothing, and has the same time';
  } finally {
    eviction.close();
    client.disconnect();
  }
}

function connect<Client>(open: () => Client): Client {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CheckFailed(`SIGNER_REDIS_URL: ${error.message}`, 'correct the setting');
  }
}

function refuseEviction(error: unknown): never {
  if (!(error instanceof EvictingRedis)) throw error;
  const fix =
    error.policy === undefined
      ? 'grant the user +info in its ACL'
      : 'CONFIG SET maxmemory-policy noeviction, and the same in redis.conf';
  throw new CheckFailed(error.message, fix);
}
