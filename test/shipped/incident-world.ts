import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { makeCertificate } from '../env/certificate.ts';
import { startPostgres } from '../env/postgres.ts';
import { type Prometheus, startPrometheus } from '../env/prometheus.ts';
import { openRoom } from '../env/room.ts';
import { startTcpProxy } from '../env/tcp-proxy.ts';
import { type Client, createClient } from './client.ts';
import { startDaemon } from './daemon-process.ts';
import type { IncidentWorld } from './incidents.ts';
import { movesClocks } from './service.ts';
import { startShippedWorld } from './world.ts';

interface Watched extends AsyncDisposable {
  readonly world: IncidentWorld;
  readonly prometheus: Prometheus;
  readonly client: Client;
}

/** @param alertmanager as of `startPrometheus` */
export async function startIncidentWorld(alertmanager?: string): Promise<Watched> {
  await using stack = new AsyncDisposableStack();
  const postgres = stack.use(await startPostgres());
  const room = stack.use(await openRoom('ori-clocks'));
  const clockFiles = { signer: join(room.directory, 'signer'), daemon: join(room.directory, 'daemon') };
  for (const file of Object.values(clockFiles)) await writeFile(file, '+0');
  const clockFileOf = (whose: 'signer' | 'daemon') => (movesClocks ? clockFiles[whose] : undefined);
  const shipped = stack.use(
    await startShippedWorld({}, {}, {}, { postgres, clockFile: clockFileOf('signer') }),
  );
  const { gateway } = shipped;
  const redisAdmin = stack.adopt(new Redis(shipped.redis.url), (redis) => redis.disconnect());
  redisAdmin.on('error', () => {});
  const toKeySet = stack.use(await startTcpProxy(gateway.securePort));
  const clockFile = clockFileOf('daemon');
  const daemons = [
    stack.use(await startDaemon(shipped, { clockFile, gatewayPort: toKeySet.port })),
    stack.use(await startDaemon(shipped, { clockFile, localKeys: true })),
  ] as const;
  const oldCertificate = makeCertificate({ name: 'old', daysLeft: 2 });
  const trusted = gateway.certificate + oldCertificate.cert;
  const client = stack.use(createClient(gateway.secureUrl, trusted));
  const world = { ...shipped, postgres, clockFiles, daemons, toKeySet, redisAdmin, oldCertificate };
  const prometheus = stack.use(
    await startPrometheus(
      {
        signer: world.signers.map(({ opsAddress }) => opsAddress),
        management: [world.management.opsAddress],
        daemon: daemons.map(({ opsAddress }) => opsAddress),
        gateway: ['/.well-known/oauth-protected-resource/v1', '/v1/openapi.json'].map(
          (path) => gateway.secureUrl + path,
        ),
      },
      trusted,
      alertmanager,
    ),
  );
  const owned = stack.move();
  return { world, prometheus, client, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
