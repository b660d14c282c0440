import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@ori/runtime/log';
import { Gauge, type Registry } from 'prom-client';
import type { OpsServer } from './ops.ts';
import type { ApiServer } from './server.ts';

const LOOK_EVERY_MS = 500;
/** How long a dependency that every instance shares may fail before an instance stops accepting connections. */
const SHARED_PATIENCE_MS = 5000;

type Verdicts = Readonly<Record<string, string>>;

export interface ServingOptions {
  readonly ops: Pick<OpsServer, 'verdicts'>;
  readonly registry: Registry;
  readonly log: Logger;
  /** Checks whose failure is this instance's own: it stops accepting at once, because another instance can serve. */
  readonly own?: readonly string[];
  /** Checks that count at the start only: the service works without them for a while. */
  readonly atStart?: readonly string[];
}

export interface Serving<Api> {
  readonly api: Api;
  /** Looks now, because a request has just failed. */
  look(): void;
  close(): void;
}

/** Resolves once every check succeeds. Logs what it is waiting for. */
async function untilReady({ ops, log }: ServingOptions): Promise<void> {
  for (let before = ''; ; await pause(LOOK_EVERY_MS / 10)) {
    const failing = failuresIn(await ops.verdicts());
    const now = JSON.stringify(failing);
    if (now === '{}') return;
    if (now !== before) log.warn({ failing }, 'not listening yet: dependencies are not ready');
    before = now;
  }
}

/**
 * Starts the API once every check succeeds, and from then on refuses connections while the instance is not ready: a gateway
 * sends requests to whatever listens. A refused connection is what a gateway without active checks may always retry
 * elsewhere: no byte of a request was sent, so nothing can have begun.
 */
export async function serveWhileReady<Api extends Pick<ApiServer, 'withdraw' | 'offer'>>(
  start: () => Promise<Api>,
  options: ServingOptions,
): Promise<Serving<Api>> {
  const { ops, registry, log, own = [], atStart = [] } = options;
  const failingSince = new Map<string, number>();
  let isListening = false;
  let isClosed = false;
  let isLooking = false;
  new Gauge({
    name: 'ori_service_listening',
    help: '1 if the instance accepts connections, 0 while it is not ready.',
    registers: [registry],
    collect() {
      this.set(isListening ? 1 : 0);
    },
  });

  await untilReady(options);
  const api = await start();
  isListening = true;

  async function look(): Promise<void> {
    const failing = failuresIn(await ops.verdicts());
    if (isClosed) return;
    const now = performance.now();
    for (const name of failingSince.keys()) if (!(name in failing)) failingSince.delete(name);
    for (const name of Object.keys(failing)) {
      if (!atStart.includes(name) && !failingSince.has(name)) failingSince.set(name, now);
    }
    const isUnfit = [...failingSince].some(
      ([name, since]) => own.includes(name) || now - since >= SHARED_PATIENCE_MS,
    );
    if (isListening && isUnfit) {
      isListening = false;
      await api.withdraw();
      log.error({ failing }, 'not ready: connections are refused');
    } else if (!isListening && failingSince.size === 0) {
      await api.offer();
      isListening = true;
      log.info('ready: connections are accepted again');
    }
  }

  const lookOnce = () => {
    if (isLooking) return;
    isLooking = true;
    look()
      .catch((err: unknown) => log.error({ err }, 'could not listen on the API port again'))
      .finally(() => {
        isLooking = false;
      });
  };
  const timer = setInterval(lookOnce, LOOK_EVERY_MS);
  return {
    api,
    look: lookOnce,
    close() {
      isClosed = true;
      clearInterval(timer);
    },
  };
}

function failuresIn(verdicts: Verdicts): Verdicts {
  return Object.fromEntries(Object.entries(verdicts).filter(([, verdict]) => verdict !== 'ok'));
}
