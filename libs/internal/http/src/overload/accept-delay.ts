import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';

const EVERY_MS = 250;

/** Where a server that listens on every address is reached; the second if the machine has no such address. */
const LOOPBACKS: Readonly<Record<string, readonly [string, string]>> = {
  '0.0.0.0': ['127.0.0.1', '127.0.0.1'],
  '::': ['127.0.0.1', '::1'],
};

interface Probe {
  readonly socket: Socket;
  readonly startedAt: number;
  localPort: number | undefined;
}

/**
 * Measures how long connections wait to be accepted, which no metric of the process shows: they are in the
 * kernel's queue. It connects to its own port four times a second and closes what it accepts.
 *
 * @param onWait called with each wait when it is over, and four times a second while it lasts
 */
export function watchAcceptDelay(
  server: Server,
  { port, host }: { readonly port: number; readonly host: string },
  onWait?: (waitedMs: number, isOver: boolean) => void,
) {
  let probe: Probe | undefined;
  let worst = 0;
  let [reachable, other] = LOOPBACKS[host] ?? [host, host];

  function end(isAccepted: boolean): void {
    if (probe === undefined) return;
    if (isAccepted) {
      worst = Math.max(worst, age());
      onWait?.(age(), true);
    }
    probe.socket.destroy();
    probe = undefined;
  }

  server.prependListener('connection', (socket: Socket) => {
    if (probe?.localPort === undefined || socket.remotePort !== probe.localPort) return;
    end(true);
    socket.destroy();
  });
  let dueAt = performance.now() + EVERY_MS;
  const timer = setInterval(() => {
    // Counted from the time it was due: a client does not wait for a late turn of this event loop.
    const startedAt = dueAt;
    dueAt = performance.now() + EVERY_MS;
    if (probe !== undefined) return onWait?.(age(), false);
    const socket = connect({ port, host: reachable }).on('error', () => {
      [reachable, other] = [other, reachable];
      end(false);
    });
    const begun: Probe = { socket, startedAt, localPort: undefined };
    probe = begun;
    // The socket has its port before the next turn, in which it may be accepted.
    process.nextTick(() => {
      begun.localPort = socket.localPort;
    });
  }, EVERY_MS);
  timer.unref();

  const age = () => (probe === undefined ? 0 : performance.now() - probe.startedAt);
  return {
    /** The longest wait since the last call, in milliseconds, including the time so far of a wait in progress. */
    takeWorst(): number {
      const taken = Math.max(worst, age());
      worst = 0;
      return taken;
    },
    stop(): void {
      clearInterval(timer);
      end(false);
    },
  };
}

export type AcceptDelay = ReturnType<typeof watchAcceptDelay>;
