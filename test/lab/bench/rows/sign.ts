import { NGINX, startGateway } from '../../../env/gateway.ts';
import { pin } from '../processes.ts';
import { alternate, type Bench, type Finding, type Mark, NO_NGINX, type Row } from '../row.ts';
import { type Measured, type SigningSide, type SignStage, warmStage } from '../sign-stage.ts';

interface Comparison {
  readonly ours: SigningSide;
  readonly theirs: SigningSide;
  /** The minimum throughput, as a ratio to theirs. */
  readonly throughput: number;
  /** The maximum CPU time per proof, as a ratio to theirs; absent: reported without a target. */
  readonly cpu?: number;
  /** The maximum of p99 / p50, as a ratio to theirs. */
  readonly tail?: number;
}

/** Loads both sides in turn as fast as they answer, and compares throughput and CPU time. */
async function compare(
  bench: Bench,
  stage: SignStage,
  { ours, theirs, throughput, cpu, tail }: Comparison,
): Promise<readonly Finding[]> {
  const load = (side: SigningSide) => stage.load(side, bench.load);
  const measured = await alternate(bench, { ours: () => load(ours), theirs: () => load(theirs) });
  const finding = (title: string, unit: string, read: (one: Measured) => number, mark?: Mark): Finding => ({
    title,
    unit,
    ...(mark && { mark }),
    ours: { name: ours.name, rounds: measured.ours.map(read) },
    theirs: { name: theirs.name, rounds: measured.theirs.map(read) },
  });
  const atMost = (bound?: number) => (bound === undefined ? undefined : { atMost: bound });
  return [
    finding('throughput', 'proofs/s', ({ perSecond }) => perSecond, { atLeast: throughput }),
    finding('CPU per proof', 'µs', ({ cpuMicrosecondsEach }) => cpuMicrosecondsEach, atMost(cpu)),
    finding('p99 / p50', '', ({ p99Ms, p50Ms }) => p99Ms / p50Ms, atMost(tail)),
    {
      title: 'CPU of Redis per proof',
      unit: 'µs',
      ours: { name: 'Redis', rounds: measured.ours.map((one) => one.redisCpuMicrosecondsEach) },
    },
  ];
}

/** The sign route with cached sessions, against a route that does the least work that the contract demands. */
export const signRow: Row = {
  name: 'sign',
  async run(bench) {
    const stage = await warmStage(bench);
    const { ours, leastWork: theirs } = stage;
    return compare(bench, stage, { ours, theirs, throughput: 0.92, cpu: 1.15, tail: 1 });
  },
};

/** The sign route against the least work, both behind the shipped gateway. */
export const signGatewayRow: Row = {
  name: 'sign-gateway',
  missing: () => (NGINX === undefined ? NO_NGINX : undefined),
  async run(bench) {
    const stage = await warmStage(bench);
    await using stack = new AsyncDisposableStack();
    const behindGateway = async (side: SigningSide): Promise<SigningSide> => {
      const address = `127.0.0.1:${side.port}`;
      const gateway = stack.use(await startGateway({ signers: [address], management: [address] }));
      for (const pid of gateway.pids()) pin(pid, 'others');
      return { ...side, name: `nginx and ${side.name}`, port: gateway.port };
    };
    const [ours, theirs] = [await behindGateway(stage.ours), await behindGateway(stage.leastWork)];
    for (const side of [ours, theirs]) await stage.load(side, bench.load);
    // Awaited here, before the gateways are disposed of.
    return await compare(bench, stage, { ours, theirs, throughput: 0.92, tail: 1 });
  },
};
