import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { bodySha256, PROOF_METHOD, signingInputV2 } from '@ori/proof';
import { Redis, type RedisOptions } from 'ioredis';
import { onTestFinished } from 'vitest';
import { createLocalKeySet } from '../../../libs/public/verifier/src/keys/local.ts';
import type { VerifierOptions } from '../../../libs/public/verifier/src/policy.ts';
import type { RedisClient } from '../../../libs/public/verifier/src/replay/redis/client.ts';
import { spentKey } from '../../../libs/public/verifier/src/replay/redis/keys.ts';
import type { NodeRedisClient } from '../../../libs/public/verifier/src/replay/redis/node-redis.ts';
import { issuedKey, issuedValue } from '../../../libs/public/verifier/src/replay/redis/reservation.ts';
import {
  type RedisReplayStoreOptions,
  redisReplayStore,
} from '../../../libs/public/verifier/src/replay/redis/store.ts';
import type { SignedRequest } from '../../../libs/public/verifier/src/request.ts';
import {
  createTestSigner,
  type TestProofOptions,
} from '../../../libs/public/verifier/src/testing/testing.ts';
import { createVerifier } from '../../../libs/public/verifier/src/verifier.ts';
import { sharedRedisUrl } from '../redis.ts';
import { STRICT } from './strict-client.ts';

/** A connected client that is closed after the test. */
export async function connect(
  url: string,
  options: Pick<RedisOptions, 'username' | 'password'> = {},
): Promise<Redis> {
  const redis = new Redis(url, { ...STRICT, retryStrategy: () => 20, lazyConnect: true, ...options });
  redis.on('error', () => undefined);
  onTestFinished(() => redis.disconnect());
  await redis.connect();
  return redis;
}

/** Backdates this server's fence by 100 s, so that a test need not wait for it. */
export async function plantOldFence(redis: Redis, internId: string): Promise<void> {
  const id = /master_replid:(\w+)/.exec(await redis.info('replication'))?.[1];
  await redis.zadd(spentKey(internId), -(Date.now() / 1000 - 100), `fence:${id}`);
}

/** A generous timeout for busy machines; tests of timeouts set their own. */
const PATIENT_MS = 5000;

/** A daemon of a new intern on this Redis, its signer, and the store behind it. */
export async function daemonOn(
  redis: Redis,
  options: Partial<RedisReplayStoreOptions> & Pick<VerifierOptions, 'acceptV1' | 'now'> = {},
) {
  const { acceptV1, now, ...storeOptions } = options;
  const internId = `int_${randomBytes(8).toString('hex')}`;
  await plantOldFence(redis, internId);
  const signer = createTestSigner({ internId });
  const keys = createLocalKeySet(signer.jwks);
  const verifierOn = (client: RedisClient | NodeRedisClient, more: Partial<RedisReplayStoreOptions> = {}) => {
    const replay = redisReplayStore(client, {
      mode: 'spend',
      timeoutMs: PATIENT_MS,
      ...storeOptions,
      ...more,
    });
    onTestFinished(() => replay.close());
    return { replay, verifier: createVerifier({ internId, keys, replay, acceptV1, now }) };
  };
  const request = (proof: Partial<TestProofOptions> = {}): SignedRequest =>
    signer.request({ path: '/api/invoke', body: '{}', ...proof });
  const world = { internId, key: spentKey(internId), signer, request, verifierOn, ...verifierOn(redis) };
  await world.replay.touch().catch(() => undefined);
  return world;
}

/** The version 2 signing input of a request, as its signer built it. */
export function signingInputOf(internId: string, request: SignedRequest): Uint8Array {
  return signingInputV2({
    internId,
    timestamp: Number(headerOf(request, 'x-ori-invoke-timestamp')),
    user: headerOf(request, 'x-ori-invoke-user'),
    nonce: headerOf(request, 'x-ori-invoke-nonce'),
    method: PROOF_METHOD,
    path: request.target ?? '',
    bodySha256: bodySha256(request.body),
  });
}

/** The value of a header of a request. */
export function headerOf({ rawHeaders }: SignedRequest, name: string): string {
  return rawHeaders[rawHeaders.indexOf(name) + 1] ?? '';
}

/** Reserves the nonce of a proof as the signer does. */
export async function reserve(redis: Redis, internId: string, request: SignedRequest): Promise<void> {
  const key = issuedKey(internId, headerOf(request, 'x-ori-invoke-nonce'));
  await redis.set(key, issuedValue(signingInputOf(internId, request)), 'PX', 60_000, 'NX');
}

const README = readFileSync(new URL('../../../libs/public/verifier/README.md', import.meta.url), 'utf8');

/** A user created by the ACL line of the README for this intern, and a connection as that user, whose password is `secret`. */
export async function userOf(
  line: 'ori-spending' | 'ori-redeeming',
  admin: Redis,
  internId: string,
  url = sharedRedisUrl(),
): Promise<Redis> {
  const words = new RegExp(`^ACL SETUSER ${line} (.*)$`, 'm').exec(README)?.[1]?.split(' ') ?? [];
  words.push(...(/^(~.* \(~.*\))$/m.exec(README)?.[1]?.split(' ') ?? []));
  const username = `${line}-${internId}`;
  const rules = words.map((word) => word.replace('>SECRET', '>secret').replace('int_7Qm2', internId));
  await admin.call('ACL', 'SETUSER', username, ...rules);
  onTestFinished(async () => {
    const last = new Redis(url).on('error', () => undefined);
    await last.call('ACL', 'DELUSER', username).catch(() => undefined);
    last.disconnect();
  });
  return connect(url, { username, password: 'secret' });
}
