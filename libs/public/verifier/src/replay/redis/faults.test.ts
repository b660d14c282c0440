import { once } from 'node:events';
import { type RedisServer, startRedis } from '@ori/test-env/redis';
import { connect, daemonOn } from '@ori/test-env/verifier/redis-world';
import { expect, onTestFinished, test } from 'vitest';

/** A server for one test. */
async function server(...args: string[]): Promise<RedisServer> {
  const started = await startRedis({ arguments: args });
  onTestFinished(() => started[Symbol.asyncDispose]());
  return started;
}

/** Spends a proof, disturbs the server, and presents the proof again. */
async function replayAfter(
  happens: (redis: Awaited<ReturnType<typeof connect>>, own: RedisServer) => Promise<unknown>,
) {
  const own = await server('--enable-debug-command', 'yes');
  const redis = await connect(own.url);
  const { verifier, request, replay } = await daemonOn(redis);
  const signed = request();
  await verifier.verify(signed);
  await happens(redis, own);
  if (redis.status !== 'ready') await once(redis, 'ready');
  await replay.touch();
  return verifier.verify(signed);
}

test.each([
  ['FLUSHALL', (redis) => redis.flushall()],
  ['SWAPDB', (redis) => redis.call('SWAPDB', '0', '1')],
  ['another replication id', (redis) => redis.call('DEBUG', 'CHANGE-REPL-ID')],
  ['SIGKILL and a start without files', (_redis, own) => own.kill().then(() => own.start())],
  ['an orderly restart without files', (_redis, own) => own.restart()],
] as [string, Parameters<typeof replayAfter>[0]][])(
  'refuses every older proof after %s',
  async (_name, happens) => {
    await expect(replayAfter(happens)).rejects.toMatchObject({ code: 'proof_before_fence' });
  },
);

test('refuses every older proof after SIGKILL and a start from a file older than its spend', async () => {
  const own = await server();
  const redis = await connect(own.url);
  const { verifier, request, replay, key } = await daemonOn(redis);
  await redis.save();
  const signed = request();
  await verifier.verify(signed);
  await own.kill();
  await own.start();
  await once(redis, 'ready');
  expect(await redis.zcount(key, 0, '+inf')).toBe(0);
  await replay.touch();
  await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'proof_before_fence' });
});

test.each(['allkeys-lru', 'volatile-ttl', 'allkeys-random'])(
  'refuses to work under maxmemory-policy %s, even if it is set later',
  async (policy) => {
    const redis = await connect((await server()).url);
    const { verifier, request, replay } = await daemonOn(redis);
    await verifier.verify(request());
    await redis.config('SET', 'maxmemory-policy', policy);
    await expect(replay.touch()).rejects.toMatchObject({ code: 'replay_store_unsafe' });
    await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
    await redis.config('SET', 'maxmemory-policy', 'noeviction');
    await replay.touch();
    await expect(verifier.verify(request())).resolves.toBeDefined();
  },
);

test('refuses when the server is out of memory, without forgetting anything', async () => {
  const redis = await connect((await server()).url);
  const { verifier, request } = await daemonOn(redis);
  const signed = request();
  await verifier.verify(signed);
  await redis.config('SET', 'maxmemory', '1');
  await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_full' });
  await redis.config('SET', 'maxmemory', '0');
  await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
});

// SPEC.md N10, N11.
test('does not wait for a frozen server; a spend without an answer counts as spent', async () => {
  const own = await server();
  const redis = await connect(own.url);
  const { verifier, request } = await daemonOn(redis, { timeoutMs: 200 });
  const signed = request();
  await own.freeze();
  await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'replay_store_unavailable' });
  await own.thaw();
  await redis.ping();
  await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
  await expect(verifier.verify(request())).resolves.toBeDefined();
});

test('writes only to a primary, also where a replica takes writes', async () => {
  const primary = await server();
  const writable = ['--replica-read-only', 'no'];
  const replica = await server('--replicaof', '127.0.0.1', String(primary.port), ...writable);
  const redis = await connect(replica.url);
  const { verifierOn, request } = await daemonOn(await connect(primary.url));
  const { verifier, replay } = verifierOn(redis);
  await expect(replay.touch()).rejects.toMatchObject({ code: 'replay_store_unsafe' });
  await expect(verifier.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
});

/** A primary with one replica that has caught up. */
async function pair() {
  const primary = await server();
  const replica = await server(
    '--replicaof',
    '127.0.0.1',
    String(primary.port),
    '--repl-diskless-sync-delay',
    '0',
  );
  const redis = await connect(primary.url);
  await expect.poll(() => redis.info('replication')).toMatch(/slave0:.*state=online.*lag=[01]\b/);
  return { primary, replica, redis };
}

test('requires half of the configured replicas to be in sync', async () => {
  const { redis, replica } = await pair();
  const { verifierOn, request } = await daemonOn(redis, { replicas: 1 });
  const one = verifierOn(redis).verifier;
  const three = verifierOn(redis, { replicas: 3, timeoutMs: 300 }).verifier;
  await expect(one.verify(request())).resolves.toBeDefined();
  const signed = request();
  await expect(three.verify(signed)).rejects.toMatchObject({ code: 'replay_store_unsafe' });
  // It was refused before it was written.
  await expect(one.verify(signed)).resolves.toBeDefined();
  await replica.kill();
  await expect.poll(() => redis.info('replication')).toContain('connected_slaves:0');
  await expect(one.verify(request())).rejects.toMatchObject({ code: 'replay_store_unsafe' });
});

test('counts a replica that is online and was heard of in the last two seconds, before it spends', async () => {
  const { primary, redis, replica } = await pair();
  const { verifier, verifierOn, request } = await daemonOn(redis);
  const cautious = verifierOn(redis, { replicas: 1 }).verifier;
  const isRefusedUnspent = async () => {
    const signed = request();
    await expect(cautious.verify(signed)).rejects.toMatchObject({ code: 'replay_store_unsafe' });
    await expect(verifier.verify(signed)).resolves.toBeDefined();
  };
  await replica.freeze();
  await expect
    .poll(() => redis.info('replication'), { timeout: 10_000 })
    .toMatch(/slave0:.*state=online.*lag=[3-9]/);
  await isRefusedUnspent();
  await replica.kill();
  await redis.config('SET', 'repl-diskless-sync-delay', '60');
  await server('--replicaof', '127.0.0.1', String(primary.port));
  await expect.poll(() => redis.info('replication')).toMatch(/slave0:.*state=(?!online).*lag=[0-2]\b/);
  await isRefusedUnspent();
});

test('a spend while the server hands over to a replica is not answered in time, and is spent', async () => {
  const { redis, replica } = await pair();
  const { verifier, request } = await daemonOn(redis, { timeoutMs: 300 });
  await replica.freeze();
  // What the replica has to have before it takes over.
  await redis.set('another', 'key');
  await redis.call('FAILOVER', 'TIMEOUT', '1000');
  const signed = request();
  await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'replay_store_unavailable' });
  await expect.poll(() => redis.info('replication')).toContain('master_failover_state:no-failover');
  await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
});

test('refuses a spend that no replica acknowledged, and the proof stays spent', async () => {
  const { redis, replica } = await pair();
  const { verifier, request } = await daemonOn(redis, { replicas: 1, timeoutMs: 500 });
  const signed = request();
  await replica.freeze();
  await expect(verifier.verify(signed)).rejects.toMatchObject({
    code: expect.stringMatching(/unsafe|unavailable/),
  });
  await replica.thaw();
  await expect
    .poll(() =>
      verifier.verify(signed).then(
        () => 'accepted',
        (error) => error.code,
      ),
    )
    .toBe('nonce_replayed');
});

test('refuses older proofs on a promoted replica', async () => {
  const { redis, replica } = await pair();
  const { verifier, verifierOn, request, key } = await daemonOn(redis);
  const signed = request();
  await verifier.verify(signed);
  const promoted = await connect(replica.url);
  await promoted.replicaof('NO', 'ONE');
  await promoted.zremrangebyscore(key, 0, '+inf');
  const other = verifierOn(promoted);
  await other.replay.touch();
  await expect(other.verifier.verify(signed)).rejects.toMatchObject({ code: 'proof_before_fence' });
  await expect(verifier.verify(signed)).rejects.toMatchObject({ code: 'nonce_replayed' });
});
