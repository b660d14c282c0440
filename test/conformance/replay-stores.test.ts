import { sharedRedisUrl } from '@ori/test-env/redis';
import { startTcpProxy } from '@ori/test-env/tcp-proxy';
import { STRICT } from '@ori/test-env/verifier/strict-client';
import { postgresReplayStore } from '@ori/verifier/postgres';
import { redisReplayStore } from '@ori/verifier/redis';
import { requireReplayStore } from '@ori/verifier/testing';
import { createClient } from '@redis/client';
import { Redis } from 'ioredis';
import postgres from 'postgres';
import { onTestFinished, test } from 'vitest';
import { openPool, startLedgerServer } from '../wings/postgres/world.ts';

/** Waits for as long as the stores must remember a proof: 32 s. Their servers have clocks of their own. */
const WAITING = { clock: 'real', maxAgeSeconds: 1, clockToleranceSeconds: 1 } as const;

/** Patient with a busy machine, and so that three missing answers are less than a store may need to replace its connections. */
const timeoutMs = 1000;

test('the Redis and the PostgreSQL store do what a verifier relies on, with each client', async () => {
  const server = await startLedgerServer();
  onTestFinished(() => server[Symbol.asyncDispose]());
  const redis = () => withSilence(sharedRedisUrl());
  const pg = () => withSilence(server.url);
  const [ofIoredis, ofNodeRedis, ofPg, ofPostgresJs] = [await redis(), await redis(), await pg(), await pg()];
  await Promise.all([
    requireReplayStore({
      ...ofIoredis.under,
      async open() {
        const client = new Redis(ofIoredis.url, { ...STRICT, lazyConnect: true });
        onTestFinished(() => client.disconnect());
        const store = closing(redisReplayStore(client, { mode: 'spend', timeoutMs }));
        await client.connect();
        return store;
      },
    }),
    requireReplayStore({
      ...ofNodeRedis.under,
      async open() {
        const client = createClient({ url: ofNodeRedis.url, disableOfflineQueue: true });
        onTestFinished(() => client.destroy());
        const store = closing(redisReplayStore(client, { mode: 'spend', timeoutMs }));
        await client.connect();
        return store;
      },
    }),
    requireReplayStore({
      ...ofPg.under,
      open: () => closing(postgresReplayStore(openPool(ofPg.url), { replicas: 0, timeoutMs })),
    }),
    requireReplayStore({
      ...ofPostgresJs.under,
      open: () =>
        closing(
          postgresReplayStore(() => postgres(ofPostgresJs.url, { max: 4 }), { replicas: 0, timeoutMs }),
        ),
    }),
  ]);
}, 180_000);

/** The server behind a proxy of its own, whose open connections can be made to fall silent. */
async function withSilence(url: string) {
  const { port } = new URL(url);
  const proxy = await startTcpProxy(Number(port));
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  return {
    url: url.replace(`:${port}`, `:${proxy.port}`),
    under: { ...WAITING, silence: () => void proxy.hush() },
  };
}

function closing<Store extends { close(): void }>(store: Store): Store {
  onTestFinished(() => store.close());
  return store;
}
