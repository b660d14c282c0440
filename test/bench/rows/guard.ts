import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { NGINX, startDaemonGateway } from '../../env/gateway.ts';
import { type GuardWorld, openGuardWorld } from '../../env/guard-world.ts';
import { freePort } from '../../env/ports.ts';
import { shipped } from '../../env/programs.ts';
import { rawClient } from '../../env/raw-client.ts';
import { openRoom } from '../../env/room.ts';
import { runContest } from '../contest.ts';
import { startGenerator } from '../load-generator.ts';
import { cpuSeconds, pin } from '../process-cost.ts';
import { alternate, type Row } from '../row.ts';

const BODY = JSON.stringify({ prompt: 'x'.repeat(1024 - 13) });
const USER = 'user_ada';
/** More than the guard can pass on in a second. */
const CALLS_PER_SECOND = 5000;

/** The CPU time of a proxy that verifies, beside one that does not, in front of the same daemon. */
export const guardRow: Row = {
  name: 'guard',
  missing: () => (NGINX === undefined ? 'no nginx on this machine; `npm run setup` installs it' : undefined),
  async run(bench) {
    const { raw: verifications } = await runContest(bench, 'verify', ['raw']);
    await using stack = new AsyncDisposableStack();
    const room = stack.use(await openRoom('ori-bench-guard'));
    const daemon = fork(join(import.meta.dirname, '../sides/daemon.ts'));
    room.admit(daemon, 'KILL');
    if (daemon.pid !== undefined) pin(daemon.pid, 'others');
    const [daemonPort] = await once(daemon, 'message');
    const proxy = fork(join(import.meta.dirname, '../sides/proxy.ts'), [`http://127.0.0.1:${daemonPort}`]);
    room.admit(proxy, 'KILL');
    const [proxyPort] = await once(proxy, 'message');
    const world = stack.use(await openGuardWorld());
    const nginx = stack.use(await startDaemonGateway({ daemons: [`127.0.0.1:${daemonPort}`] }));
    const port = await freePort();
    const output = openSync(join(room.directory, 'guard.log'), 'a');
    const guard = spawn(process.execPath, [await shipped('guard/ori-guard')], {
      stdio: ['ignore', output, output],
      env: {
        ...world.environment,
        GUARD_DAEMON_URL: `http://127.0.0.1:${daemonPort}`,
        ...{ GUARD_PORT: String(port), GUARD_OPS_PORT: String(await freePort()) },
      },
    });
    room.admit(guard, 'KILL');
    while (!(await isServed(world, port))) await pause(100);
    const generator = startGenerator(room);
    const sides = {
      guard: { port, pids: [guard.pid ?? 0] },
      nginx: { port: nginx.port, pids: nginx.pids() },
      node: { port: proxyPort as number, pids: [proxy.pid ?? 0] },
    };
    for (const pid of Object.values(sides).flatMap(({ pids }) => pids)) pin(pid, 'servers');
    const length = CALLS_PER_SECOND * bench.load.seconds;
    const load = async (name: keyof typeof sides) => {
      const { port, pids } = sides[name];
      const cpu = () => pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
      const requests = Array.from({ length }, () => signed(world));
      const before = cpu();
      const report = await generator({ port, requests, eachOnce: true, ...bench.load, sampleEvery: 101 });
      // The daemon answers with the verified user, whom only the guard tells it.
      const expected = name === 'guard' ? USER : 'nobody';
      if (!report.samples.every((answer) => answer.endsWith(`\r\n\r\n${expected}`)))
        throw new Error(`${name}: not the daemon's answer`);
      const { answers: calls, perSecond } = report;
      return { calls, each: ((cpu() - before) * 1e6) / calls, perSecond };
    };
    bench.progress('warming up');
    for (const name of ['guard', 'nginx', 'node'] as const) {
      for (let calls = 0; calls < bench.warmProofs; ) calls += (await load(name)).calls;
    }
    const measured = await alternate(bench, {
      ...{ guard: () => load('guard'), nginx: () => load('nginx'), node: () => load('node') },
    });
    const of = (side: keyof typeof sides, read: 'each' | 'perSecond') => ({
      name: side,
      rounds: measured[side].map((one) => one[read]),
    });
    const verification = (round: number) => 1e6 / (verifications[round] ?? Number.NaN);
    const allowed = measured.nginx.map(({ each }, round) => 2 * each + verification(round));
    const least = measured.node.map(({ each }, round) => each + verification(round));
    return [
      {
        title: 'CPU per call',
        unit: 'µs',
        ours: of('guard', 'each'),
        theirs: { name: '2 × nginx and one verification', rounds: allowed },
        mark: { atMost: 1 },
      },
      {
        title: 'CPU per call',
        unit: 'µs',
        ours: of('guard', 'each'),
        theirs: { name: 'a bare proxy in Node and one verification', rounds: least },
      },
      { title: 'CPU per call', unit: 'µs', ours: of('guard', 'each'), theirs: of('nginx', 'each') },
      {
        title: 'throughput',
        unit: 'calls/s',
        ours: of('guard', 'perSecond'),
        theirs: of('nginx', 'perSecond'),
      },
    ];
  },
};

const signed = (world: GuardWorld) => world.signed({ path: '/api/invoke', body: BODY, user: USER });

/** A store in memory refuses the proofs of the seconds after its start. */
async function isServed(world: GuardWorld, port: number): Promise<boolean> {
  using client = await rawClient(port).catch(() => undefined);
  client?.send(signed(world));
  return (await client?.answer())?.status === 200;
}
