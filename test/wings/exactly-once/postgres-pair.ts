import type { PostgresServer } from '../../env/postgres-server.ts';
import { until } from '../../env/until.ts';
import type { Place } from '../../lab/exactly-once/repertoire.ts';
import type { Fault, Stage, World } from '../../lab/exactly-once/stage.ts';
import { VERIFIER_FAULTS } from '../../lab/exactly-once/stores/any-store.ts';
import { postgresServerFaults } from './postgres-server-faults.ts';
import { ask, POSTGRES_TIMEOUT_MS, schemaOf, startLedger } from './postgres-single.ts';

const WAITS = { settings: ['synchronous_standby_names=*'] };
const SYNC = "SELECT count(*)::int AS n FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')";

/** A primary whose commits wait for its standby, and an operator who promotes by hand. */
export async function postgresPair({ library }: Place): Promise<World> {
  const schema = await schemaOf(library);
  const pair = await openPair(schema);
  const { whole } = pair;

  const faults: Record<string, Fault> = {
    async 'primary killed, standby promoted'(stage) {
      await pair.primary.kill();
      await pair.promote();
      await stage.moveAll(pair.primary.url);
      await pair.rebuild(stage);
    },

    /** A commit while the standby is frozen must not be reported as spent. */
    async 'lagging standby promoted'(stage) {
      await pair.standby.freeze();
      await stage.pause(stage.random.between(200, 1500));
      await pair.primary.kill();
      await pair.standby.thaw();
      await pair.promote();
      stage.worst();
      await stage.moveAll(pair.primary.url);
      await pair.rebuild(stage);
    },

    /** Some verifiers keep using the former primary, which does not know that it was replaced. */
    async 'old primary resumed'(stage) {
      const { random, pause, goTo, worst, verifiers } = stage;
      const former = pair.primary;
      await former.freeze();
      await pair.promote();
      const faithful = random.below(verifiers.length);
      for (const index of verifiers.keys()) if (index !== faithful) goTo(pair.primary.url, index);
      await pause(random.between(100, 1000));
      await former.thaw();
      worst();
      await pause(random.between(300, 1500));
      worst();
      await stage.moveAll(pair.primary.url);
      await pair.rebuild(stage);
    },

    async 'standby lost'({ pause, refuses }) {
      await pair.standby.kill();
      await pause(500);
      await refuses(200, 1000);
      await pair.standby.start();
      await whole();
    },

    async 'standby frozen'({ random, pause, worst }) {
      await pair.standby.freeze();
      await pause(random.between(200, 3000));
      worst();
      await pair.standby.thaw();
      await whole();
    },
  };
  return {
    get store() {
      return {
        kind: 'postgres',
        url: pair.primary.url,
        replicas: 1,
        timeoutMs: POSTGRES_TIMEOUT_MS,
      } as const;
    },
    faults: { ...VERIFIER_FAULTS, ...postgresServerFaults(() => pair.primary, schema, whole), ...faults },
    [Symbol.asyncDispose]: () => pair.close(),
  };
}

async function openPair(schema: string) {
  const follower = async (of: PostgresServer): Promise<PostgresServer> =>
    startLedger({ ...WAITS, copyOf: of, standbyOf: of });
  let primary = await startLedger(WAITS);
  // There is no standby to wait for yet.
  await ask(primary.url, `SET synchronous_commit = local; ${schema}`);
  await primary.stop();
  let standby = await follower(primary);
  await primary.start();

  const pair = {
    get primary() {
      return primary;
    },
    get standby() {
      return standby;
    },

    whole: () =>
      until('the standby does not follow', async () => (await ask(primary.url, SYNC))[0]?.['n'] === 1),

    /** The standby becomes the primary; the former primary is left as it is. */
    async promote(): Promise<void> {
      await ask(standby.url, 'SELECT pg_promote()');
      [primary, standby] = [standby, primary];
    },

    /** The former primary is rebuilt as a standby, from a copy of the stopped new one. */
    async rebuild({ worst }: Pick<Stage, 'worst'>): Promise<void> {
      await standby[Symbol.asyncDispose]();
      await primary.kill();
      standby = await follower(primary);
      await primary.start();
      worst();
      await pair.whole();
    },

    async close(): Promise<void> {
      await Promise.all([primary[Symbol.asyncDispose](), standby[Symbol.asyncDispose]()]);
    },
  };
  await pair.whole();
  return pair;
}
