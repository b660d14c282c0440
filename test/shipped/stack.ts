import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeOriHome } from '../e2e/cli-process.ts';
import { makeCertificate, type Tls } from '../env/certificate.ts';
import { createHttpClient } from '../env/http-client.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../env/otlp-receiver.ts';
import { freePort } from '../env/ports.ts';
import { type Prometheus, startPrometheus } from '../env/prometheus.ts';
import { startTcpProxy, type TcpProxy } from '../env/tcp-proxy.ts';
import { type Daemon, startDaemon } from './daemon-process.ts';
import { CONNECTIONS_MAX, type ShippedWorld, startShippedWorld } from './world.ts';

/** The pages that the shipped targets probe: one of the signer and one of management. */
export const GATEWAY_PAGES = ['/.well-known/oauth-protected-resource/v1', '/v1/openapi.json'];

/** What ships, with two daemons, a collector of traces, the canary and Prometheus. Its client also trusts `oldCertificate`. */
export interface Stack extends ShippedWorld {
  /** The first fetches its keys through the proxy, the second only at its start. */
  readonly daemons: readonly [Daemon, Daemon];
  readonly toKeySet: TcpProxy;
  /** Expires within two days. */
  readonly oldCertificate: Tls;
  readonly collector: OtlpReceiver;
  readonly prometheus: Prometheus;
}

export async function startStack(): Promise<Stack> {
  await using stack = new AsyncDisposableStack();
  const collector = stack.use(await startOtlpReceiver());
  const shipped = stack.use(await startShippedWorld({}, {}, { OTLP_ENDPOINT: collector.url }));
  const { gateway } = shipped;
  const toKeySet = stack.use(await startTcpProxy(gateway.securePort));
  const daemons = [
    stack.use(await startDaemon(shipped, { gatewayPort: toKeySet.port })),
    stack.use(await startDaemon(shipped, { localKeys: true })),
  ] as const;
  const oldCertificate = makeCertificate({ name: 'old', daysLeft: 2 });
  const trusted = gateway.certificate + oldCertificate.cert;
  const client = stack.use(
    createHttpClient(gateway.secureUrl, { certificate: trusted, connectionsMax: CONNECTIONS_MAX }),
  );
  const canary = stack.use(await startCanary(shipped, trusted));
  const prometheus = stack.use(
    await startPrometheus(
      {
        signer: shipped.signers.map(({ opsAddress }) => opsAddress),
        management: [shipped.management.opsAddress],
        daemon: daemons.map(({ opsAddress }) => opsAddress),
        gateway: GATEWAY_PAGES.map((path) => gateway.secureUrl + path),
        canary: [canary.address],
        certificates: [`localhost:${gateway.securePort}`],
      },
      trusted,
    ),
  );
  const owned = stack.move();
  const started = {
    ...shipped,
    client,
    daemons,
    toKeySet,
    oldCertificate,
    collector,
    prometheus,
  };
  return { ...started, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** `ori canary` with a token of the issuer, as a caller outside. */
async function startCanary({ baseUrl, demo, issuer }: ShippedWorld, trusted: string) {
  await using stack = new AsyncDisposableStack();
  const env = { ORI_BASE_URL: baseUrl, ORI_TOKEN: await issuer.token({ expiresInSeconds: 3600 }) };
  const home = stack.use(await makeOriHome(env));
  const authority = join(home.folder, 'ca.pem');
  await writeFile(authority, trusted);
  const port = await freePort();
  const words = ['canary', demo.internId, '--port', String(port)];
  const running = home.start(words, { stdin: null, env: { NODE_EXTRA_CA_CERTS: authority } });
  stack.defer(async () => {
    running.child.kill('SIGINT');
    await running.result;
  });
  await running.told(/Each scrape/);
  const owned = stack.move();
  return {
    address: `127.0.0.1:${port}`,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
