import { setTimeout as pause } from 'node:timers/promises';
import type { OpsServer } from '../observe/ops.ts';
import type { ApiServer } from './server.ts';

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
