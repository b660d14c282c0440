import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openGuardWorld } from '../../../env/guard-world.ts';
import { freePort } from '../../../env/ports.ts';
import { startRedis } from '../../../env/redis.ts';
import { openAdmin } from '../../../env/redis-admin.ts';
import { openRoom } from '../../../env/room.ts';
import { startWorker } from '../../../env/worker.ts';
import { startWorld } from '../../../env/world.ts';
import { type Counted, type Counts, EXACT_FLAGS } from '../meter.ts';
import { type Costs, type Metered, measureCosts, startMeteredServer } from '../metered.ts';
import type { Finding, Row } from '../row.ts';
import { pkcs8Of, requestBytes } from '../sign-stage.ts';
import { isServed, signed } from './guard.ts';
import { openBoundSession } from './sign-bound.ts';

const BENCH = join(import.meta.dirname, '..');
const SERVICES = join(BENCH, '../../../services');

/** The most of each cost, by server. */
type Marks = Readonly<Record<string, Readonly<Record<string, number>>>>;

/** The most that one call may create and use. What changes on purpose is changed here too. */
const MARKS: Marks = {
  signer: {
    bytes: 58_000,
    'system calls': 9,
    'Redis commands': 8,
    'Redis bytes': 468,
    promises: 30,
    timers: 5,
  },
  'signer, ES256': {
    bytes: 67_500,
    'system calls': 9,
    'Redis commands': 12,
    'Redis bytes': 645,
    promises: 32,
    timers: 5,
  },
  'signer, Ed25519': {
    bytes: 67_500,
    'system calls': 9,
    'Redis commands': 12,
    'Redis bytes': 645,
    promises: 32,
    timers: 5,
  },
  guard: { bytes: 71_000, 'system calls': 6, promises: 36, timers: 7 },
  verifier: { bytes: 10_200, promises: 20.2, timers: 0 },
};

/**
 * What a call costs that does not depend on other load of the machine, so that a mark missed once is missed. Each server
 * runs from source and is called by one client, so batches, which save some of this under load, do not form.
 */
export const costRow: Row = {
  name: 'cost',
  isExact: true,
  async run(bench) {
    const costs: Record<string, Costs> = {};
    const measure = async (name: string, metered: Metered) => {
      bench.progress(name);
      costs[name] = await measureCosts(metered);
    };
    await eachMetered(EXACT_FLAGS, measure);
    return findingsOf(costs, MARKS);
  },
};

/** @param units of costs that are not for each call */
export function findingsOf(
  costs: Readonly<Record<string, Costs>>,
  marks: Marks,
  units: Readonly<Record<string, string>> = {},
): Finding[] {
  return Object.entries(costs).flatMap(([name, one]) =>
    Object.entries(one).map(([what, rounds]): Finding => {
      const mark = marks[name]?.[what];
      const finding = { title: what, unit: units[what] ?? 'for each call', ours: { name, rounds } };
      return mark === undefined ? finding : { ...finding, mark: { atMost: mark } };
    }),
  );
}

type Measure = (name: string, metered: Metered) => Promise<void>;

/** Starts each server, and the least that one does, and measures it. @param flags of Node */
export async function eachMetered(flags: readonly string[], measure: Measure): Promise<void> {
  await measureSigner(flags, measure);
  await measureGuard(flags, measure);
  await measureVerifier(flags, measure);
}

async function measureSigner(flags: readonly string[], measure: Measure): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const server = stack.use(await startRedis());
  const redis = openAdmin(server.url);
  stack.defer(() => redis.disconnect());
  const room = stack.use(await openRoom('ori-bench-cost'));
  const world = stack.use(await startWorld({ redis: server }));
  await world.signer.stop();
  const args = [pkcs8Of(world.demo.seed), server.url, join(room.directory, 'least-work.jsonl')];
  const leastWork = stack.use(startMeteredServer(join(BENCH, 'sides/least-work.ts'), { flags, args, redis }));
  const token = await world.token({ expiresInSeconds: 7200 });
  const unbound = async (count: number) => Array.from({ length: count }, () => requestBytes(world, token));
  await measure('least work', await leastWork.calling((await leastWork.told) as number, unbound));

  const env = world.environment;
  const signer = stack.use(startMeteredServer(join(SERVICES, 'signer/src/main.ts'), { flags, env, redis }));
  await ready(() => world.page('/readyz').then(({ status }) => status === 200));
  const port = Number(new URL(world.baseUrl).port);
  await measure('signer', await signer.calling(port, unbound));
  for (const algorithm of ['ES256', 'Ed25519'] as const) {
    await measure(
      `signer, ${algorithm}`,
      await signer.calling(port, await openBoundSession(world, algorithm)),
    );
  }
}

async function measureGuard(flags: readonly string[], measure: Measure): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await openGuardWorld());
  const port = await freePort();
  const ports = { GUARD_PORT: String(port), GUARD_OPS_PORT: String(await freePort()) };
  const env = { ...world.environment, ...ports };
  const guard = stack.use(startMeteredServer(join(SERVICES, 'guard/src/main.ts'), { flags, env }));
  await ready(() => isServed(world, port));
  const calls = async (count: number) => Array.from({ length: count }, () => signed(world));
  await measure('guard', await guard.calling(port, calls));
}

async function measureVerifier(flags: readonly string[], measure: Measure): Promise<void> {
  type Order = { calls: number; counted: Counted };
  type Answer = { before: Counts; after: Counts };
  await using worker = startWorker<Order, Answer>(join(BENCH, 'cost-verify.ts'), [], flags);
  await measure('verifier', { lap: (calls, counted) => worker.ask({ calls, counted }) });
}

/** A server that is starting refuses connections first. */
async function ready(isReady: () => Promise<boolean>): Promise<void> {
  while (!(await isReady().catch(() => false))) await pause(50);
}
