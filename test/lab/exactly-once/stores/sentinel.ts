import { type SentinelPair, startSentinelPair } from '../../../env/redis-sentinel.ts';
import type { Fault, World } from '../stage.ts';
import { VERIFIER_FAULTS } from './any-store.ts';
import { TIMEOUT_MS } from './redis-single.ts';

/** Longer than the sentinels take to agree that a server is down. */
const NOTICE_MS = 1500;

/** Two servers monitored by three sentinels, which tell the verifiers the primary's address. */
export async function sentinelWorld(): Promise<World> {
  const pair = await startSentinelPair();
  return {
    store: { kind: 'redis', url: pair.url, replicas: 1, timeoutMs: TIMEOUT_MS },
    faults: { ...VERIFIER_FAULTS, ...sentinelFaults(pair) },
    [Symbol.asyncDispose]: () => pair[Symbol.asyncDispose](),
  };
}

function sentinelFaults(pair: SentinelPair): Readonly<Record<string, Fault>> {
  const replica = async () => {
    const primary = await pair.primary();
    return pair.servers.find((server) => server !== primary) ?? primary;
  };
  return {
    async 'primary killed'({ worst, random, pause }) {
      const former = await pair.primary();
      await former.kill();
      await pair.failedOver(former);
      worst();
      await pause(random.between(0, 500));
      await former.start();
      await pair.whole();
    },

    /** The former primary keeps running until the sentinels notice it. */
    async 'primary frozen, then resumed'({ worst, random, pause }) {
      const former = await pair.primary();
      await former.freeze();
      await pair.failedOver(former);
      await pause(random.between(0, 500));
      await former.thaw();
      worst();
      await pair.whole();
    },

    async 'failover by command'({ worst }) {
      await pair.failOver(await pair.primary());
      worst();
      await pair.whole();
    },

    /** What was written while the replica was frozen may still be in its socket, or lost with the primary. */
    async 'lagging replica promoted'({ worst, random, pause }) {
      const former = await pair.primary();
      const behind = await replica();
      await behind.freeze();
      await pause(random.between(100, 400));
      await former.kill();
      await behind.thaw();
      await pair.failedOver(former);
      worst();
      await former.start();
      await pair.whole();
    },

    /** Some sentinels notice and some do not, so a failover may or may not follow. */
    async 'primary killed and back at once'({ worst, pause }) {
      const former = await pair.primary();
      await former.kill();
      await former.start();
      worst();
      await pause(NOTICE_MS);
      await pair.whole();
    },

    async 'replica killed'({ pause, refuses }) {
      const lost = await replica();
      await lost.kill();
      await pause(300);
      await refuses(100, 500);
      await lost.start();
      await pair.whole();
    },

    async 'sentinel killed'({ random, pause }) {
      const lost = random.pick(pair.sentinels);
      await lost.kill();
      await pause(random.between(100, 1000));
      await lost.start();
    },

    async FLUSHALL({ worst }) {
      await pair.flush();
      worst();
    },
  };
}
