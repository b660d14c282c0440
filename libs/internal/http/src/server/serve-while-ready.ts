import { setTimeout as pause } from 'node:timers/promises';
import { instrumentsOf } from '@ori/runtime/instruments';
import type { Serving, ServingParts } from './open-ports.ts';
import type { ApiServer } from './server.ts';

const LOOK_EVERY_MS = 500;
const REPEAT_EVERY_MS = 30_000;

type Verdicts = Readonly<Record<string, string>>;

export interface ServingOptions extends ServingParts {
  /** Checks of what only this instance uses. While one fails, another instance can serve instead. */
  readonly own?: readonly string[];
  /** How often the log repeats what the start waits for, in milliseconds. */
  readonly repeatEveryMs?: number;
}

/** Resolves once every check succeeds. Logs what it is waiting for and why, at each change and every 30 s. */
async function untilReady({ ops, log, repeatEveryMs = REPEAT_EVERY_MS }: ServingOptions): Promise<void> {
  let before = '';
  for (let toldAt = 0; ; await pause(LOOK_EVERY_MS / 10)) {
    const failing = failuresIn(await ops.verdicts());
    if (Object.keys(failing).length === 0) return;
    const causes = ops.causes();
    const now = JSON.stringify([failing, causes]);
    if (now === before && performance.now() - toldAt < repeatEveryMs) continue;
    log.warn({ failing, causes }, 'not listening yet: dependencies are not ready');
    before = now;
    toldAt = performance.now();
  }
}

/**
 * Starts the API once every check succeeds, and from then on refuses connections while a check of its `own` fails. A
 * gateway sends requests to whatever listens, and may always retry a refused connection elsewhere: no byte of a request
 * was sent. What all instances share counts only at the start: no other instance could serve instead, and routes that do
 * not need it still work.
 */
export async function serveWhileReady<Api extends Pick<ApiServer, 'withdraw' | 'offer'>>(
  start: () => Promise<Api>,
  options: ServingOptions,
): Promise<Serving<Api>> {
  const { ops, registry, log, own = [] } = options;
  let isListening = false;
  let isClosed = false;
  let isLooking = false;
  instrumentsOf(registry).reading(
    'ori_service_listening',
    '1 if the instance accepts connections, 0 while it does not.',
    () => (isListening ? 1 : 0),
  );

  await untilReady(options);
  const api = await start();
  isListening = true;

  async function look(): Promise<void> {
    const failing = failuresIn(await ops.verdicts(own));
    const isFit = Object.keys(failing).length === 0;
    if (isClosed || isFit === isListening) return;
    if (isFit) {
      await api.offer();
      log.info('ready again, accepting connections');
    } else {
      await api.withdraw();
      log.error({ failing, causes: ops.causes() }, 'not ready, refusing connections');
    }
    isListening = isFit;
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

/** For `openPorts`: behind a gateway, the API listens only while these checks succeed, and for the first time once all do. */
export const whileReady =
  (...own: string[]) =>
  (start: () => Promise<ApiServer>, parts: ServingParts): Promise<Serving> =>
    serveWhileReady(start, { ...parts, own });
