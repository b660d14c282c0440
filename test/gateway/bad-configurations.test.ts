import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runOri } from '../e2e/cli-in-process.ts';
import type { OriHome } from '../e2e/cli-process.ts';
import { type CliWorld, INTERN_ID, startCliWorld } from '../e2e/cli-world.ts';
import { type Gateway, NGINX, startDaemonGateway } from '../env/gateway.ts';
import { askRaw, requestBytes } from './ask-raw.ts';
import { BAD_CONFIGURATIONS, HEADER_ALIAS, MIRRORED, SENT_AGAIN } from './bad-configurations.ts';
import { type Arrival, type JudgingDaemon, startJudgingDaemon } from './judging-daemon.ts';
import { isSignable, PATH_FORMS } from './path-forms.ts';

const BODY = '{"prompt":"hello"}';
const BODY_SHA256 = createHash('sha256').update(BODY).digest('hex');

/** Signs a call like any other and sends it. */
async function call(gateway: Gateway, daemon: JudgingDaemon, path: string, headers: [string, string][] = []) {
  const proof = Object.entries(daemon.signer.sign({ path, body: BODY }));
  const all = [...headers, ...proof, ['Content-Type', 'application/json'] as const];
  await askRaw(gateway.port, requestBytes(`POST ${path} HTTP/1.1`, all, BODY));
  return daemon.takeArrivals();
}

const PATHS = PATH_FORMS.map(({ target }) => target).filter(isSignable);

function isChanged(arrival: Arrival, path: string): boolean {
  const { method, target, bodySha256 } = arrival;
  return method !== 'POST' || target !== path || bodySha256 !== BODY_SHA256;
}

describe.skipIf(NGINX === undefined)('a gateway that changes what was signed', () => {
  let daemon: JudgingDaemon;
  let world: CliWorld;
  let home: OriHome;
  beforeAll(async () => {
    daemon = await startJudgingDaemon();
    world = await startCliWorld();
    home = await world.newHome();
    await world.signIn(home);
  });
  afterAll(async () => {
    await daemon?.[Symbol.asyncDispose]();
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

  it.each(BAD_CONFIGURATIONS)('gets no such call accepted: $construct', async ({ server }) => {
    await using gateway = await startDaemonGateway({ daemons: [daemon.address], server });
    let refused = 0;
    for (const path of PATHS) {
      const accepted = (await call(gateway, daemon, path)).filter(({ verdict }) => verdict === 'accepted');
      const changed = accepted.filter((arrival) => isChanged(arrival, path));
      expect(changed, path).toEqual([]);
      expect(accepted.length, path).toBeLessThanOrEqual(1);
      if (accepted.length === 0) refused += 1;
    }
    // The same calls are accepted without the construct, except for the few that nginx always refuses.
    expect(refused).toBeGreaterThan(PATHS.length / 10);
  });

  it.each(BAD_CONFIGURATIONS)('ori doctor call says what it changes: $construct', async (bad) => {
    const { exit, verdict, changes } = await doctor(bad.server);
    const words = changes.map(({ field, change, arrived }) =>
      arrived === undefined || field === 'body' ? `${field} ${change}` : `${field} ${change} to ${arrived}`,
    );
    expect({ exit, verdict, words }).toEqual({ exit: 7, verdict: 'changed', words: bad.reported });
  });

  it('is not the shipped one', async () => {
    expect(await doctor()).toMatchObject({ exit: 0, verdict: 'accepted', changes: [] });
  });
});

describe.skipIf(NGINX === undefined)('a gateway', () => {
  it('that mirrors requests gets a proof accepted only once', async () => {
    await using daemon = await startJudgingDaemon();
    await using gateway = await startDaemonGateway({ daemons: [daemon.address], server: MIRRORED.server });
    const arrivals = await call(gateway, daemon, '/api/invoke');
    await expect.poll(() => arrivals.push(...daemon.takeArrivals())).toBe(2);
    expect(arrivals.map(({ verdict }) => verdict).sort()).toEqual(['401', 'accepted']);
  });

  it.each([
    ['that sends again what a daemon has begun gets a proof accepted only once', SENT_AGAIN.server],
    ['as it ships sends nothing again', undefined],
  ])('%s', async (_, server) => {
    await using daemon = await startJudgingDaemon({ hangsUp: true });
    await using gateway = await startDaemonGateway({ daemons: [daemon.address], server });
    const arrivals = await call(gateway, daemon, '/api/invoke');
    const again = server === undefined ? [] : ['401'];
    expect(arrivals.map(({ verdict }) => verdict)).toEqual(['accepted', ...again]);
  });

  it('that derives headers of a proof from others does not get another caller accepted', async () => {
    await using daemon = await startJudgingDaemon();
    const { server } = HEADER_ALIAS;
    await using gateway = await startDaemonGateway({ daemons: [daemon.address], server });
    const alias: [string, string][] = [['X_Ori_Invoke_User', 'mallory']];
    const [arrival] = await call(gateway, daemon, '/api/invoke', alias);
    expect(arrival).toMatchObject({ target: '/api/invoke', verdict: '401' });
  });
});
