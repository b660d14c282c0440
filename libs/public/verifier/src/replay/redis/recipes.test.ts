import { type RedisServer, startRedis } from '@ori/test-env/redis';
import { hasReplicas } from '@ori/test-env/redis-admin';
import { startRecipe } from '@ori/test-env/verifier/recipe';
import { connect } from '@ori/test-env/verifier/redis-world';
import { afterAll, beforeAll, expect, test } from 'vitest';

const servers = new AsyncDisposableStack();
let primary: RedisServer;
beforeAll(async () => {
  primary = servers.use(await startRedis());
  const { port } = new URL(primary.url);
  const follow = ['--replicaof', '127.0.0.1', port, '--repl-diskless-sync-delay', '0'];
  servers.use(await startRedis({ arguments: follow }));
});
afterAll(() => servers.disposeAsync());

test.each(['const redis = new Redis(', 'const client = createClient('])(
  'the daemon of README with %s stays alive when Redis closes its connection',
  async (line) => {
    const operator = await connect(primary.url);
    // The store of the first recipe is unsafe until the replica follows.
    const replication = async () => String(await operator.call('INFO', 'replication'));
    await expect.poll(async () => hasReplicas(await replication(), 1)).toBe(true);
    const daemon = await startRecipe(line, { url: primary.url });
    const ids = async () =>
      [...String(await operator.call('CLIENT', 'LIST', 'TYPE', 'normal')).matchAll(/^id=(\d+)/gm)].map(
        ([, id]) => id,
      );
    const before = await ids();
    await operator.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await expect.poll(async () => (await ids()).some((id) => !before.includes(id))).toBe(true);
    await daemon.ready();
  },
);
