import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiKey } from '@ori/store/admin';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadStandaloneConfig } from '../../services/standalone/src/config.ts';
import { type Standalone, startStandalone } from '../../services/standalone/src/standalone.ts';
import { startManagementOf } from '../bench/management.ts';
import { NGINX, startGateway } from '../env/gateway.ts';
import { startWorld } from '../env/world.ts';
import { callEverything, EVERYTHING_WORKED } from './family-client.ts';

let home: string;
let standalone: Standalone;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'ori-family-client-'));
  standalone = await startStandalone(loadStandaloneConfig({ ORI_PORT: '0' }), home);
});
afterAll(async () => {
  await standalone.stop();
  await rm(home, { recursive: true, force: true });
});

it("the family's public client, unmodified, calls every operation of npm start", async () => {
  const { baseUrl, apiKey, managementKey } = standalone.state;
  const response = await fetch(`${baseUrl}/organization/members`, {
    headers: { Authorization: `Bearer ${managementKey}` },
  });
  const { data } = (await response.json()) as { data: { id: string }[] };
  const userId = data[0]?.id ?? '';
  const told = await callEverything({ baseUrl, apiKey, managementKey, userId });
  expect(told).toEqual(EVERYTHING_WORKED(userId));
});

it.runIf(NGINX !== undefined)(
  'and of two management processes behind the gateway',
  { timeout: 60_000 },
  async () => {
    await using stack = new AsyncDisposableStack();
    const world = stack.use(await startWorld());
    const environment = { MANAGEMENT_TRUST_GATEWAY: 'true' };
    const ports = [
      await startManagementOf(world, stack, environment),
      await startManagementOf(world, stack, environment),
    ];
    const gateway = stack.use(
      await startGateway({
        signers: [new URL(world.baseUrl).host],
        management: ports.map((port) => `127.0.0.1:${port}`),
      }),
    );
    const { organizationId, apiKey, userId } = world.demo;
    const management = await createApiKey(world.store, {
      kind: 'management',
      name: 'console',
      organizationId,
    });
    const baseUrl = `${gateway.url}/v1`;
    const told = await callEverything({ baseUrl, apiKey, managementKey: management.key, userId });
    expect(told).toEqual(EVERYTHING_WORKED(userId));
    for (const port of ports) expect(await gateway.accessLog()).toContain(`127.0.0.1:${port}`);
  },
);
