import { freePort } from '../env/ports.ts';
import { shipped } from '../env/programs.ts';
import { openRoom } from '../env/room.ts';
import { ServerProcess } from '../env/server-process.ts';
import type { World } from '../env/world.ts';
import { pin } from './process-cost.ts';

/** Starts the management service as it ships, on the world's database. @returns its port */
export async function startManagementOf(
  world: World,
  stack: AsyncDisposableStack,
  environment: Readonly<Record<string, string>> = {},
): Promise<number> {
  const managementPort = await freePort();
  const room = stack.use(await openRoom('ori-bench-management'));
  const management = new ServerProcess({
    room,
    program: process.execPath,
    arguments: [await shipped('management/ori-management')],
    ready: /"msg":"listening"/,
    farewell: 'KILL',
    environment: {
      MANAGEMENT_PORT: String(managementPort),
      MANAGEMENT_OPS_PORT: String(await freePort()),
      MANAGEMENT_DATABASE_URL: world.managementDatabaseUrl,
      MANAGEMENT_ISSUER: world.issuer.url,
      MANAGEMENT_AUDIENCE: `http://127.0.0.1:${managementPort}/v1`,
      MANAGEMENT_KEK_FILE: world.managementKekFile,
      ...environment,
    },
  });
  stack.defer(() => management.end('SIGKILL'));
  await management.start();
  if (management.pid !== undefined) pin(management.pid, 'servers');
  return managementPort;
}
