import { startRedis } from '../../env/redis.ts';
import type { World } from '../stage.ts';
import { openAdmin, TIMEOUT_MS } from './redis-single.ts';

const PATIENCE_MS = 20_000;

/** A primary and two followers, of which one must have every spend. */
export async function redisTrio(): Promise<World> {
  const stack = new AsyncDisposableStack();
  const open = async () => {
    const server = stack.use(await startRedis({ arguments: ['--repl-diskless-sync-delay', '0'] }));
    const admin = openAdmin(server.url);
    stack.defer(() => admin.disconnect());
    return { server, admin };
  };
  let [first, second, third] = [await open(), await open(), await open()];
  const followers = async (count: number): Promise<void> => {
    const untilMs = Date.now() + PATIENCE_MS;
    const fresh = /slave\d:.*state=online.*lag=[01]\r/g;
    while (((await first.admin.info('replication')).match(fresh) ?? []).length < count) {
      if (Date.now() > untilMs) throw new Error('the replicas do not follow');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };

  for (const { admin } of [second, third]) await admin.replicaof('127.0.0.1', first.server.port);
  await followers(2);
  return {
    store: { kind: 'redis', url: first.server.url, replicas: 2, timeoutMs: TIMEOUT_MS },
    faults: {
      /**
       * One replica is promoted and alone for a while: what happens there meanwhile may not count, for the two others go on. Then the
       * third goes over to it.
       */
      async 'split brain, third changes sides'({ verifiers, goTo, pause, random, worst }) {
        await second.admin.replicaof('NO', 'ONE');
        const lost = random.below(verifiers.length);
        goTo(second.server.url, lost);
        worst();
        await pause(random.between(2000, 6000));
        goTo(second.server.url);
        [first, second] = [second, first];
        await third.admin.replicaof('127.0.0.1', first.server.port);
        await followers(1);
        worst();
        await pause(random.between(300, 1500));
        worst();
        await second.admin.replicaof('127.0.0.1', first.server.port);
        await followers(2);
      },
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
