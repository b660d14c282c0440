import { freePort } from './ports.ts';
import { shippedServer } from './programs.ts';
import { openRoom } from './room.ts';
import type { World } from './world.ts';

/** The management service as it ships, on the world's database. */
export async function startManagement(world: World, environment: Readonly<Record<string, string>> = {}) {
  const port = await freePort();
  const room = await openRoom('ori-management');
  const server = await shippedServer(room, 'management/ori-management', {
    MANAGEMENT_PORT: String(port),
    MANAGEMENT_OPS_PORT: String(await freePort()),
    MANAGEMENT_DATABASE_URL: world.managementDatabaseUrl,
    MANAGEMENT_ISSUER: world.issuer.url,
    MANAGEMENT_AUDIENCE: `http://127.0.0.1:${port}/v1`,
    MANAGEMENT_KEK_FILE: world.managementKekFile,
    ...environment,
  });
  await server.start();
  return { port, pid: server.pid, [Symbol.asyncDispose]: () => room[Symbol.asyncDispose]() };
}
