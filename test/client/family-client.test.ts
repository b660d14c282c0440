import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadStandaloneConfig } from '../../services/standalone/src/config.ts';
import { type Standalone, startStandalone } from '../../services/standalone/src/standalone.ts';
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
