import { setTimeout as pause } from 'node:timers/promises';
import type { Registry } from '@ori/runtime/instruments';
import { LIMITS, type Limits } from '@ori/runtime/limits';
import type { Logger } from '@ori/runtime/log';
import type { Metrics } from '@ori/runtime/metrics';
import { type OpsServer, type OpsServerOptions, startOpsServer } from '../observe/ops.ts';
import { type ApiServer, type ApiServerOptions, startApiServer } from './server.ts';

/** Times in milliseconds. */
export const STOP_TIMES = {
  /** How long readiness is off before anything else changes, for gateways that check it. */
  shutdownDrainMs: 0,
  /** How long idle connections stay open after that: longer than a gateway keeps them. */
  shutdownIdleMs: 2000,
  /** After how long, counted from the end of the drain, the remaining connections are cut. */
  shutdownGraceMs: 10_000,
};
export type StopTimes = Readonly<typeof STOP_TIMES>;

/** Time for a whole request, from its first byte to the answer. */
export const DEADLINE_MS = 5000;

/** What is the same in every deployment of a service, unless its own settings or a caller in this process say otherwise. */
export type ServingConstants = Partial<StopTimes & Limits & { readonly deadlineMs: number }>;

/** The part of a service's configuration that says where and how it listens. */
type PortsConfig = ServingConstants &
  Required<Pick<ApiServerOptions, 'host' | 'port' | 'trustGateway'>> &
  NonNullable<ApiServerOptions['tls']> & {
    readonly opsHost: string;
    readonly opsPort: number;
  };

interface PortsParts extends Pick<ApiServerOptions, 'app' | 'presentBusy'> {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly checks: OpsServerOptions['checks'];
  /** How the API starts behind a gateway: see `whileReady`. */
  readonly behindGateway?: (start: () => Promise<ApiServer>, parts: ServingParts) => Promise<Serving>;
}

export interface ServingParts {
  readonly ops: Pick<OpsServer, 'verdicts' | 'causes'>;
  readonly registry: Registry;
  readonly log: Logger;
}

/** An API that listens only at times. */
export interface Serving<Api = ApiServer> {
  readonly api: Api;
  /** Checks now, because a request has just failed. */
  look(): void;
  close(): void;
}

/**
 * The last step of a service's start: opens its ops port, then its API.
 *
 * @param stack what the service uses, in the order in which it was opened; taken over
 */
export async function openPorts(
  config: PortsConfig,
  { app, presentBusy, log, metrics, checks, behindGateway }: PortsParts,
  stack: AsyncDisposableStack,
) {
  const { registry } = metrics;
  const ops = await startOpsServer({ host: config.opsHost, port: config.opsPort, registry, checks });
  stack.defer(ops.stop);
  const { host, port, deadlineMs = DEADLINE_MS, requestsInFlightMax = 0, trustGateway } = config;
  const start = () =>
    startApiServer({
      app,
      host,
      port,
      deadlineMs,
      trustGateway,
      log,
      metrics,
      limits: { connectionsMax: Math.max(LIMITS.connectionsMax, requestsInFlightMax), ...config },
      tls: config,
      ...(presentBusy && { presentBusy }),
    });
  const serving = trustGateway ? await behindGateway?.(start, { ops, log, registry }) : undefined;
  const api = serving?.api ?? (await start());
  const owned = stack.move();
  return {
    api,
    opsUrl: ops.url,
    /** Checks whether to listen now, because a request has just failed. */
    look: () => serving?.look(),
    /** Stops as `stopService` does, then releases the stack. */
    async stop(): Promise<void> {
      serving?.close();
      await stopService({ ops, api }, { ...STOP_TIMES, ...config });
      await owned.disposeAsync();
    },
  };
}

export type OpenPorts = Awaited<ReturnType<typeof openPorts>>;

/**
 * A stop that callers behind a gateway do not notice. First, readiness goes off while everything is still served. Then
 * the listener closes: a gateway that does not check readiness is refused before it has sent anything, and tries
 * another instance. Requests on connections that the gateway kept are answered with `Connection: close`. Idle
 * connections are left for the gateway to close, because it may be about to send a request on one.
 */
export async function stopService(
  { ops, api }: { readonly ops: Pick<OpsServer, 'drain'>; readonly api: Pick<ApiServer, 'stop'> },
  times: StopTimes,
  wait: (ms: number) => Promise<unknown> = pause,
): Promise<void> {
  ops.drain();
  await wait(times.shutdownDrainMs);
  await api.stop({ graceMs: times.shutdownGraceMs, idleGraceMs: times.shutdownIdleMs });
}
