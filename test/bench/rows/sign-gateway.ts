import { NGINX, startGateway } from '../../env/gateway.ts';
import { compareSides } from '../compare-sides.ts';
import { pin } from '../process-cost.ts';
import type { Row } from '../row.ts';
import { type SigningSide, warmStage } from '../sign-stage.ts';

/** The sign route against the least work, both behind the shipped gateway. */
export const signGatewayRow: Row = {
  name: 'sign-gateway',
  missing: () => (NGINX === undefined ? 'no nginx on this machine; `npm run setup` installs it' : undefined),
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
    return await compareSides(bench, stage, { ours, theirs, throughput: 0.92, tail: 1 });
  },
};
