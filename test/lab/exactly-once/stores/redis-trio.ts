import { startRedis } from '../../../env/redis.ts';
import { hasReplicas, openAdmin } from '../../../env/redis-admin.ts';
import { startTcpProxy } from '../../../env/tcp-proxy.ts';
import { until } from '../../../env/until.ts';
import type { Stage, World } from '../stage.ts';
import { TIMEOUT_MS } from './redis-single.ts';

const SHORT_AGE_SECONDS = 3;
/** More than the shortest retention: an age of 1 s, a tolerance of 2 s, and 30 s for a body. */
const FORGOTTEN_MS = 36_000;

/** A primary and two followers, one of which must have every spend. */
export async function redisTrio(): Promise<World> {
  const stack = new AsyncDisposableStack();
  const open = async () => {
    const server = stack.use(await startRedis({ arguments: ['--repl-diskless-sync-delay', '0'] }));
    const admin = openAdmin(server.url);
    stack.defer(() => admin.disconnect());
    return { server, admin };
  };
  let [first, second, third] = [await open(), await open(), await open()];
  const followers = (count: number) =>
    until('the replicas do not follow', async () =>
      hasReplicas(await first.admin.info('replication'), count),
    );

  /** The isolated server becomes the primary: first the third server follows it, then the former primary. */
  async function changeSides({ pause, random, worst }: Pick<Stage, 'pause' | 'random' | 'worst'>) {
    [first, second] = [second, first];
    await third.admin.replicaof('127.0.0.1', first.server.port);
    await followers(1);
    worst();
    await pause(random.between(300, 1500));
    worst();
    await second.admin.replicaof('127.0.0.1', first.server.port);
    await followers(2);
  }

  for (const { admin } of [second, third]) await admin.replicaof('127.0.0.1', first.server.port);
  await followers(2);
  return {
    get store() {
      return { kind: 'redis', url: first.server.url, replicas: 2, timeoutMs: TIMEOUT_MS } as const;
    },
    faults: {
      /**
       * One replica is promoted and isolated for a while. Spends there must not count, because the other two continue. Then the
       * third server follows it.
       */
      async 'split brain, third changes sides'({ verifiers, goTo, pause, random, worst }) {
        await second.admin.replicaof('NO', 'ONE');
        const lost = random.below(verifiers.length);
        goTo(second.server.url, lost);
        worst();
        await pause(random.between(2000, 6000));
        goTo(second.server.url);
        await changeSides({ pause, random, worst });
      },

      /**
       * The same, but the servers are not told at first: the connection between two of them loses one or both directions, for longer
       * than a replica may lag, and in total for longer than the verifier on the far side accepts a proof.
       */
      async 'partition outlasts the proofs'(stage) {
        const { verifiers, goTo, pause, random, worst, restart } = stage;
        const lost = random.below(verifiers.length);
        await restart(lost, { maxAgeSeconds: SHORT_AGE_SECONDS });
        await using way = await startTcpProxy(first.server.port);
        await second.admin.replicaof('127.0.0.1', way.port);
        await followers(2);
        way.set(random.pick(['deaf', 'mute', 'silent']));
        goTo(second.server.url, lost);
        worst();
        await pause(random.between(2500, 4000));
        await second.admin.replicaof('NO', 'ONE');
        await pause(random.between(2500, 5000));
        goTo(second.server.url);
        await changeSides(stage);
        await restart(lost);
        worst();
      },

      /** One verifier no longer needs to remember spends that the others would still accept. */
      async 'spends forgotten early'({ verifiers, pause, random, worst, restart }) {
        const forgetful = random.below(verifiers.length);
        await restart(forgetful, { maxAgeSeconds: 1 });
        await pause(FORGOTTEN_MS);
        worst();
        await pause(2500);
        await restart(forgetful);
        worst();
      },
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
