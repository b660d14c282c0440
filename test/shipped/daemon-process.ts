import { join } from 'node:path';
import { startDaemonGateway } from '../env/gateway.ts';
import { createHttpClient } from '../env/http-client.ts';
import { freePort } from '../env/ports.ts';
import { openRoom } from '../env/room.ts';
import { ServerProcess } from '../env/server-process.ts';
import { addShippedUser } from './redis-users.ts';
import { CONNECTIONS_MAX, type ShippedWorld } from './world.ts';

export interface DaemonOptions {
  /** Where it finds the gateway of the services. Default: the gateway's own port. */
  readonly gatewayPort?: number;
  /** Whether it fetches the keys only once, at its start. */
  readonly localKeys?: boolean;
}

/** A daemon behind the shipped daemon gateway. It fetches keys over TLS through the gateway of the services. */
export async function startDaemon(world: ShippedWorld, options: DaemonOptions = {}) {
  await using stack = new AsyncDisposableStack();
  const room = stack.use(await openRoom('ori-shipped-daemon'));
  const [port, opsPort] = await Promise.all([freePort(), freePort()]);
  const { internId } = world.demo;
  const { gatewayPort = world.gateway.securePort, localKeys = false } = options;
  const server = new ServerProcess({
    room,
    program: process.execPath,
    arguments: [join(import.meta.dirname, 'daemon.ts')],
    ready: /^ready$/,
    farewell: 'KILL',
    environment: {
      NODE_EXTRA_CA_CERTS: join(world.gateway.folder, 'conf/site/cert.pem'),
      DAEMON_PORT: String(port),
      DAEMON_OPS_PORT: String(opsPort),
      DAEMON_INTERN: internId,
      DAEMON_JWKS_URL: `https://localhost:${gatewayPort}/v1/interns/${internId}/daemon/jwks.json`,
      DAEMON_LOCAL_KEYS: String(localKeys),
      DAEMON_REDIS_URL: await addShippedUser(world.redis.url, 'ori-redeeming', internId),
    },
  });
  await server.start();
  const gateway = stack.use(await startDaemonGateway({ daemons: [`127.0.0.1:${port}`] }));
  const client = stack.use(
    createHttpClient(gateway.secureUrl, { ...gateway, connectionsMax: CONNECTIONS_MAX }),
  );
  const owned = stack.move();
  return {
    /** The TLS address of the daemon's own gateway. */
    client,
    /** `127.0.0.1:<port>` of its metrics. */
    opsAddress: `127.0.0.1:${opsPort}`,
    async restart(): Promise<void> {
      await server.end('SIGTERM');
      await server.start();
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

export type Daemon = Awaited<ReturnType<typeof startDaemon>>;
