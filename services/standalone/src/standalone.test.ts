import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { loadStandaloneConfig } from './config.ts';
import { PortTaken, reservePort } from './reserve-port.ts';
import { startStandalone } from './standalone.ts';

const CONFIG = loadStandaloneConfig({ ORI_PORT: '0' });

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'ori-standalone-'));
});
afterEach(() => rmSync(home, { recursive: true }));

/** Node forgets a closed listener a moment after it closed. */
function expectListeners(count: number): Promise<void> {
  return vi.waitFor(() => {
    const resources = process.getActiveResourcesInfo();
    expect(resources.filter((kind) => kind === 'TCPServerWrap')).toHaveLength(count);
  });
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

it('leaves nothing running if its folder cannot be made', async () => {
  const file = join(home, 'a-file');
  writeFileSync(file, '');
  await expect(startStandalone(CONFIG, file)).rejects.toThrow('ENOTDIR');
  await expectListeners(0);
});

it('refuses a used port before anything is started', async () => {
  const other = createServer();
  const port = await listen(other);
  try {
    await expect(startStandalone({ ...CONFIG, port }, home)).rejects.toThrow(PortTaken);
    await expectListeners(1);
  } finally {
    other.close();
  }
});

it('reserves the requested port, and a free one for 0', async () => {
  const chosen = await reservePort('127.0.0.1', 0);
  expect(chosen).toBeGreaterThan(0);
  expect(await reservePort('127.0.0.1', chosen)).toBe(chosen);
});
