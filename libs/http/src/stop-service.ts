import { setTimeout as pause } from 'node:timers/promises';
import type { OpsServer } from './ops.ts';
import type { ApiServer } from './server.ts';

/** Milliseconds, under the names of the configuration. */
export interface StopTimes {
  /** How long readiness is off before anything else changes: for gateways that ask for it. */
  readonly shutdownDrainMs: number;
  /** How long idle connections stay after that. */
  readonly shutdownIdleMs: number;
  /** After how long, counted from the end of the drain, what is left is cut. */
  readonly shutdownGraceMs: number;
}

/**
 * A stop that no caller behind a gateway notices. Readiness goes off while everything is served as before. Then the
 * listener closes, so that a gateway that knows of no readiness is refused before it has sent anything, and goes elsewhere.
 * What still comes on connections it kept is answered with `Connection: close`. Idle ones are the gateway's to close:
 * a request that it was about to send would meet our end of it.
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
