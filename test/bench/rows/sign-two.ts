import { NGINX, startGateway } from '../../env/gateway.ts';
import { compareSides } from '../compare-sides.ts';
import { pin } from '../process-cost.ts';
import type { Row } from '../row.ts';
import { type SigningSide, warmStage } from '../sign-stage.ts';

/** Two signers on one Redis against one signer, both behind the shipped gateway. All signers share one core. */
export const signTwoRow: Row = {
  name: 'sign-two',
  missing: () => (NGINX === undefined ? 'no nginx on this machine; `npm run setup` installs it' : undefined),
  async run(bench) {
    const stage = await warmStage(bench);
    await using stack = new AsyncDisposableStack();
    const behindGateway = async (...sides: [SigningSide, SigningSide?]): Promise<SigningSide> => {
      const [side, other] = sides;
      const signers = sides.flatMap((one) => (one === undefined ? [] : `127.0.0.1:${one.port}`));
      const gateway = stack.use(await startGateway({ signers, management: signers }));
      for (const pid of gateway.pids()) pin(pid, 'others');
      const name = other === undefined ? 'one signer' : 'two signers';
      return { ...side, name, port: gateway.port, ...(other && { otherPid: other.pid }) };
    };
    const [ours, theirs] = [
      await behindGateway(stage.ours, await stage.anotherSigner()),
      await behindGateway(stage.ours),
    ];
    for (const side of [ours, ours, theirs]) await stage.load(side, bench.load);
    return await compareSides(bench, stage, { ours, theirs });
  },
};
