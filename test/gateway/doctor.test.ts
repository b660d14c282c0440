import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runOri } from '../e2e/cli-in-process.ts';
import type { OriHome } from '../e2e/cli-process.ts';
import { type CliWorld, INTERN_ID, startCliWorld } from '../e2e/cli-world.ts';
import { NGINX, startDaemonGateway } from '../env/gateway.ts';

const PATH = '/api//invoke/%41';
const INVOKE = 'x-ori-invoke-';
/** What `ori doctor call` must report behind each bad configuration that changes a call. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  'body-dropped.conf': ['body lost'],
  'body-set.conf': ['body changed'],
  'content-encoding-changed.conf': ['content-encoding added'],
  'content-type-changed.conf': ['content-type changed'],
  'header-dropped.conf': [`${INVOKE}signature-v2 lost`, `${INVOKE}nonce lost`],
  'header-join.conf': [`${INVOKE}nonce repeated`],
  'header-override.conf': [`${INVOKE}user changed`],
  'headers-not-passed.conf': ['signature', 'timestamp', 'user', 'signature-v2', 'nonce'].map(
    (name) => `${INVOKE}${name} lost`,
  ),
  'internal-redirect.conf': ['path changed'],
  'location-captures.conf': ['path changed to /api/invoke/A'],
  'merged-uri.conf': ['path changed to /api/invoke/A'],
  'method-changed.conf': ['method changed to PUT'],
  'proxy-pass-uri.conf': ['path changed to /api/invoke/A'],
  'query-added.conf': ['path changed to /api/invoke/A', 'query added'],
  'rewrite.conf': ['path changed'],
  'sub-path-strip.conf': ['path changed to /invoke/A'],
};

describe.skipIf(NGINX === undefined)('ori doctor call behind a real nginx', () => {
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

  async function doctor(configuration?: string) {
    await using gateway = await startDaemonGateway({
      daemons: [new URL(world.daemonUrl).host],
      ...(configuration === undefined ? {} : { configuration }),
    });
    const args = [
      'doctor',
      'call',
      INTERN_ID,
      PATH,
      '--data',
      '{ "prompt": "hello" }',
      '--daemon',
      gateway.url,
      '--json',
    ];
    const { exit, stdout } = await runOri(home, args, { ORI_BASE_URL: world.baseUrl });
    return { exit, ...(JSON.parse(stdout) as { verdict: string; changes: Record<string, string>[] }) };
  }

  it.each(Object.entries(NAMED))('reports what %s changes', async (name, named) => {
    const { exit, verdict, changes } = await doctor(join(import.meta.dirname, 'bad', name));
    const words = changes.map(({ field, change, arrived }) =>
      arrived === undefined || field === 'body' ? `${field} ${change}` : `${field} ${change} to ${arrived}`,
    );
    expect({ exit, verdict, words }).toEqual({ exit: 7, verdict: 'changed', words: [...named] });
  });

  it('finds the call as it was signed behind the shipped gateway', async () => {
    expect(await doctor()).toMatchObject({ exit: 0, verdict: 'accepted', changes: [] });
  });
});
