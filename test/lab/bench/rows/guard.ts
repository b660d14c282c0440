import { setTimeout as pause } from 'node:timers/promises';
import { NGINX, startDaemonGateway } from '../../../env/gateway.ts';
import { type GuardWorld, openGuardWorld } from '../../../env/guard-world.ts';
import { freePort } from '../../../env/ports.ts';
import { rawClient } from '../../../env/raw-client.ts';
import { openRoom } from '../../../env/room.ts';
import { runContest } from '../contest.ts';
import type { LoadOrder, LoadReport } from '../load.ts';
import { cpuSeconds, pin, startServer, startShipped, startWorker } from '../processes.ts';
import { alternate, combine, NO_NGINX, type Row } from '../row.ts';

const BODY = JSON.stringify({ prompt: 'x'.repeat(1024 - 13) });
const USER = 'user_ada';
/** More than the guard can pass on in a second. */
const CALLS_PER_SECOND = 5000;

/** Of the proofs that warm other servers: with all of them, a fast machine fills the guard's memory of proofs. */
const WARM_SHARE = 1 / 4;

/** The CPU time of a proxy that verifies, beside two that do not, in front of the same daemon. */
export const guardRow: Row = {
  name: 'guard',
  missing: () => (NGINX === undefined ? NO_NGINX : undefined),
  async run(bench) {
    const { raw: verifications } = await runContest(bench, 'verify', ['raw']);
    await using stack = new AsyncDisposableStack();
    const room = stack.use(await openRoom('ori-bench-guard'));
    const daemon = stack.use(await startServer('daemon', 'others'));
    const world = stack.use(await openGuardWorld());
    const nginx = stack.use(await startDaemonGateway({ daemons: [`127.0.0.1:${daemon.port}`] }));
    for (const pid of nginx.pids()) pin(pid, 'servers');
    const proxy = stack.use(await startServer('proxy', 'servers', [String(daemon.port)]));
    const port = await freePort();
    const { pid } = await startShipped(room, 'guard/ori-guard', {
      ...world.environment,
      GUARD_DAEMON_URL: `http://127.0.0.1:${daemon.port}`,
      GUARD_PORT: String(port),
      GUARD_OPS_PORT: String(await freePort()),
      GUARD_REQUESTS_IN_FLIGHT_PER_ACCOUNT_MAX: '1000',
    });
    while (!(await isServed(world, port))) await pause(100);
    const generator = stack.use(startWorker<LoadOrder, LoadReport>('load-process.ts', 'others'));
    const length = CALLS_PER_SECOND * bench.load.seconds;
    const load = async ({ port, pids, user }: { port: number; pids: readonly number[]; user: string }) => {
      const cpu = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
      const requests = Array.from({ length }, () => signed(world));
      const before = cpu();
      const report = await generator.ask({ port, requests, eachOnce: true, ...bench.load, sampleEvery: 101 });
      if (!report.samples.every((answer) => answer.endsWith(`\r\n\r\n${user}`)))
        throw new Error(`not the daemon's answer to ${user}`);
      const { answers: calls, perSecond } = report;
      return { calls, each: ((cpu() - before) * 1e6) / calls, perSecond };
    };
    // The daemon answers with the verified user, whom only the guard tells it.
    const sides = {
      guard: () => load({ port, pids: [pid], user: USER }),
      nginx: () => load({ port: nginx.port, pids: nginx.pids(), user: 'nobody' }),
      proxy: () => load({ port: proxy.port, pids: [proxy.pid], user: 'nobody' }),
    };
    bench.progress('warming up');
    for (const side of Object.values(sides)) {
      for (let calls = 0; calls < WARM_SHARE * bench.warmProofs; ) calls += (await side()).calls;
    }
    const { guard, nginx: bare, proxy: ofNode } = await alternate(bench, sides);
    const withVerification = (side: typeof guard, times: number) =>
      combine(
        side.map(({ each }) => each),
        verifications,
        (each, perSecond) => times * each + 1e6 / perSecond,
      );
    return [
      {
        title: 'CPU per call',
        unit: 'µs',
        ours: { name: 'guard', rounds: guard.map(({ each }) => each) },
        theirs: { name: '2 × nginx and one verification', rounds: withVerification(bare, 2) },
      },
      {
        title: 'CPU per call',
        unit: 'µs',
        ours: { name: 'guard', rounds: guard.map(({ each }) => each) },
        theirs: { name: 'proxy of Node and one verification', rounds: withVerification(ofNode, 1) },
        mark: { atMost: 1.3 },
      },
      {
        title: 'throughput',
        unit: 'calls/s',
        ours: { name: 'guard', rounds: guard.map(({ perSecond }) => perSecond) },
        theirs: { name: 'nginx', rounds: bare.map(({ perSecond }) => perSecond) },
      },
    ];
  },
};

/** A signed call of the daemon. */
export const signed = (world: GuardWorld) => world.signed({ path: '/api/invoke', body: BODY, user: USER });

/** A store in memory refuses the proofs of the seconds after its start. */
export async function isServed(world: GuardWorld, port: number): Promise<boolean> {
  using client = await rawClient(port).catch(() => undefined);
  client?.send(signed(world));
  return (await client?.answer())?.status === 200;
}
