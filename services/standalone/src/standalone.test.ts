import { on, once } from 'node:events';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { StoreUnavailable } from '@ori/postgres/store-unavailable';
import { Secret } from '@ori/runtime/secret';
import { createDatabase } from '@ori/test-env/postgres';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadStandaloneConfig } from './config.ts';
import { RedisUnreachable } from './open-replay.ts';
import { PortTaken } from './reserve-port.ts';
import { startStandalone } from './standalone.ts';
import { makeStateFolder, readState } from './state-file.ts';

const CONFIG = loadStandaloneConfig({ ORI_PORT: '0' });

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'ori-standalone-'));
});
afterEach(() => rmSync(home, { recursive: true }));

/** Node forgets a closed listener a moment after it closed. */
function expectListeners(count: number): Promise<void> {
  const open = () => process.getActiveResourcesInfo().filter((kind) => kind === 'TCPServerWrap');
  return expect.poll(open).toHaveLength(count);
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

it('leaves nothing running and no state file if the database is unreachable', async () => {
  const databaseUrl = new Secret('postgres://127.0.0.1:1/nowhere');
  await expect(startStandalone({ ...CONFIG, databaseUrl }, home)).rejects.toThrow(StoreUnavailable);
  await expectListeners(0);
  expect(readState(home)).toBeUndefined();
});

it('times out if Redis is silent, and stops connecting', async () => {
  const silent = createServer((socket) => socket.resume());
  const port = await listen(silent);
  try {
    const redisUrl = new Secret(`redis://127.0.0.1:${port}`);
    await expect(startStandalone({ ...CONFIG, redisUrl }, home)).rejects.toThrow(RedisUnreachable);
    // Behind those that are still to be accepted.
    const arrivals = on(silent, 'connection');
    const last = connect(port, '127.0.0.1');
    await once(last, 'connect');
    for await (const [{ remotePort }] of arrivals) if (remotePort === last.localPort) break;
    last.destroy();
    const again = once(silent, 'connection').then(() => 'connected again');
    expect(await Promise.race([again, setTimeout(1000, 'quiet')])).toBe('quiet');
    await expectListeners(1);
  } finally {
    silent.close();
  }
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

it('runs on while a full disk takes no line of its logs', async () => {
  const folder = makeStateFolder(home);
  for (const name of ['signer.log', 'management.log']) symlinkSync('/dev/full', join(folder, name));
  await using database = await createDatabase({ migrated: false });
  await using standalone = await startStandalone({ ...CONFIG, databaseUrl: new Secret(database.url) }, home);
  for (const path of ['interns', 'openapi.json'])
    expect((await fetch(`${standalone.state.baseUrl}/${path}`)).status).toBeLessThan(500);
});
