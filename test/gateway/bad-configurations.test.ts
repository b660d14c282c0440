import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runOri } from '../e2e/cli-in-process.ts';
import type { OriHome } from '../e2e/cli-process.ts';
import { type CliWorld, INTERN_ID, startCliWorld } from '../e2e/cli-world.ts';
import { NGINX, startDaemonGateway } from '../env/gateway.ts';
import { askRaw, requestBytes } from './ask-raw.ts';
import { BAD_CONFIGURATIONS } from './bad-configurations.ts';
import { startJudgingDaemon } from './judging-daemon.ts';

const BODY = '{"prompt":"hello"}';

describe.skipIf(NGINX === undefined)('a gateway that changes what was signed', () => {
  let world: CliWorld;
  let home: OriHome;
  beforeAll(async () => {
    world = await startCliWorld();
    home = await world.newHome();
    await world.signIn(home);
  });
  afterAll(async () => {
    await home?.[Symbol.asyncDispose]();
    await world?.[Symbol.asyncDispose]();
  });

  async function doctor(server?: string) {
    const daemons = [new URL(world.daemonUrl).host];
    await using gateway = await startDaemonGateway({ daemons, server });
    const sent = ['/api//invoke/%41', '--data', '{ "prompt": "hello" }', '--daemon', gateway.url, '--json'];
    const { exit, stdout } = await runOri(home, ['doctor', 'call', INTERN_ID, ...sent], {
      ORI_BASE_URL: world.baseUrl,
    });
    return { exit, ...(JSON.parse(stdout) as { verdict: string; changes: Record<string, string>[] }) };
  }

  it.each(BAD_CONFIGURATIONS)(
    'gets the call refused, and ori doctor call says why: $construct',
    async (bad) => {
      const { exit, verdict, changes } = await doctor(bad.server);
      const words = changes.map(({ field, change, arrived }) =>
        arrived === undefined || field === 'body' ? `${field} ${change}` : `${field} ${change} to ${arrived}`,
      );
      expect({ exit, verdict, words }).toEqual({ exit: 7, verdict: 'changed', words: bad.reported });
    },
  );

  it('is not the shipped one', async () => {
    expect(await doctor()).toMatchObject({ exit: 0, verdict: 'accepted', changes: [] });
  });
});

it.skipIf(NGINX === undefined)(
  'the shipped gateway sends nothing again that a daemon has begun',
  async () => {
    await using daemon = await startJudgingDaemon({ hangsUp: true });
    await using gateway = await startDaemonGateway({ daemons: [daemon.address] });
    const proof = Object.entries(daemon.signer.sign({ path: '/api/invoke', body: BODY }));
    const headers = [...proof, ['Content-Type', 'application/json'] as const];
    await askRaw(gateway.port, requestBytes('POST /api/invoke HTTP/1.1', headers, BODY));
    expect(daemon.takeArrivals().map(({ verdict }) => verdict)).toEqual(['accepted']);
  },
);
