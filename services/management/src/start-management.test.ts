import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { unavailableFrom } from '@ori/postgres/store-unavailable';
import { ConfigError } from '@ori/runtime/config';
import { generateKekRing } from '@ori/sealing/change-kek-ring';
import { parseKekRing } from '@ori/sealing/kek-ring-text';
import { openPostgres } from '@ori/store/postgres';
import { freePort } from '@ori/test-env/ports';
import { createDatabase } from '@ori/test-env/postgres';
import { serve } from '@ori/test-env/serve';
import { expect, test } from 'vitest';
import { loadManagementConfig, startManagement } from './start-management.ts';

const environment = {
  MANAGEMENT_PORT: '0',
  MANAGEMENT_OPS_PORT: String(await freePort()),
  MANAGEMENT_DATABASE_URL: 'postgres://127.0.0.1:1/ori',
  MANAGEMENT_ISSUER: 'http://127.0.0.1:1',
  MANAGEMENT_AUDIENCE: 'https://api.test/v1',
  MANAGEMENT_KEK_FILE: '/nowhere/kek.json',
  MANAGEMENT_LOG_LEVEL: 'silent',
};
const config = loadManagementConfig(environment);
const ring = parseKekRing(generateKekRing('management'));

test('a failed start leaves nothing listening', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  await expect(startManagement({ ...config, port }, { ring })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  await expect(fetch(`http://127.0.0.1:${config.opsPort}/livez`)).rejects.toThrow('fetch failed');
  taken.close();
});

test('a start without its database and its issuer reports what is missing', async () => {
  const management = await startManagement(config, { ring });
  const ready = await fetch(`${management.opsUrl}/readyz`);
  expect(ready.status).toBe(503);
  const { checks } = (await ready.json()) as { checks: Record<string, string> };
  expect(Object.keys(checks)).toEqual(['postgresql', 'issuer']);
  expect(Object.values(checks)).not.toContain('ok');
  await management.stop();
});

test('PostgreSQL has 500 ms for each answer', async () => {
  const greeted = Promise.withResolvers<Buffer>();
  await using server = await serve(
    createServer((socket) => void socket.once('data', greeted.resolve).once('data', () => socket.destroy())),
  );
  const env = { ...environment, MANAGEMENT_DATABASE_URL: `postgres://u:p@${server.address}/db` };
  const starting = startManagement(loadManagementConfig(env), { ring });
  // The server itself ends a statement a little earlier, so that the connection is not lost.
  expect((await greeted.promise).toString()).toContain('\0statement_timeout\x00450\0');
  await (await starting).stop();
});

test('it is not ready behind a PgBouncer that pools statements, which refuses transactions', async () => {
  await using database = await createDatabase();
  const store = openPostgres({ url: database.managementUrl, poolMax: 1 });
  const cause = Object.assign(new Error('transaction blocks not allowed'), {
    code: '08P01',
    severity: 'FATAL',
  });
  const transaction = () => Promise.reject(unavailableFrom(cause));
  const management = await startManagement(config, { ring, database: { ...store, transaction } });
  const ready = await fetch(`${management.opsUrl}/readyz`);
  expect(await ready.json()).toMatchObject({
    checks: { postgresql: 'failing: refused' },
    causes: { postgresql: expect.stringContaining('PgBouncer') },
  });
  await management.stop();
  await store.close();
});

test('an unreadable KEK ring is refused with the name of its setting', async () => {
  await expect(startManagement(config)).rejects.toThrow(ConfigError);
  await expect(startManagement(config)).rejects.toThrow(/MANAGEMENT_KEK_FILE/);
});

test('all errors in the environment are reported together', () => {
  const load = () =>
    loadManagementConfig({
      ...environment,
      MANAGEMENT_ISSUER: 'http://issuer.example',
      MANAGEMENT_AUDIENCE: 'ori-api',
      MANAGEMENT_DATABASE_URL: 'postgres://management@db-a,db-b/ori',
      MANAGEMENT_INTROSPECTION_CLIENT_ID: 'management',
    });
  for (const problem of [
    /MANAGEMENT_BASE_URL: required/,
    /MANAGEMENT_ISSUER: /,
    /MANAGEMENT_DATABASE_URL: .*one host/,
    /set both or neither/,
  ]) {
    expect(load).toThrow(problem);
  }
  expect(() => loadManagementConfig({ ...environment, MANAGEMENT_PROT: '1' })).toThrow(
    /MANAGEMENT_PROT: unknown name/,
  );
});
