import { openPorts } from '@ori/http/open-ports';
import { createLogger, type Logger } from '@ori/runtime/log';
import { createVerifier } from '@ori/verifier';
import { createCheck } from './check.ts';
import type { GuardConfig } from './config.ts';
import { createDaemon } from './daemon.ts';
import { openKeys } from './keys.ts';
import { createGuardMetrics } from './metrics.ts';
import { openReplay } from './open-replay.ts';
import { createProxy } from './proxy.ts';

export { GUARD_SPEC, type GuardConfig, loadGuardConfig } from './config.ts';

/** Starts the guard without waiting for keys, store or daemon: until they work, `/readyz` shows what is missing and calls are refused. */
export async function startGuard(
  config: GuardConfig,
  parts: { readonly log?: Logger; readonly now?: () => number } = {},
) {
  const { log = createLogger({ service: 'guard', level: config.logLevel }), now = Date.now } = parts;
  const { mode, internId, contentType, maxAgeSeconds, bodyBytesMax } = config;
  const metrics = createGuardMetrics();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => metrics.http.close());
  const keys = openKeys(config.keysUrl, config.root, log);
  stack.defer(() => keys.close());
  const replay = await openReplay(config, { log, now });
  stack.defer(replay.close);
  const verifier = createVerifier({
    internId,
    keys,
    replay: replay.store,
    contentType,
    maxAgeSeconds,
    answers: config.answers
      ? (await import('@ori/verifier/answers')).keepAnswers({ key: config.answerKey?.reveal() })
      : undefined,
    now,
    onOutcome: ({ outcome }) => metrics.judged(outcome),
  });
  const checks = {
    async keys() {
      if (keys.jwks() === undefined) await keys.reload();
    },
    replay: replay.check,
  };
  const daemon = createDaemon(config);
  let endsAtMs = 0;
  stack.defer(() => daemon.close(Math.max(0, endsAtMs - performance.now())));
  const app =
    mode === 'proxy'
      ? createProxy({ config, verifier, daemon, onFailure: metrics.daemonFailed })
      : createCheck({ mode, verifier, bodyBytesMax });
  const { api, opsUrl, stop } = await openPorts(
    // The guard limits answers itself, by whether the client makes progress, because a stream may last for any time.
    { ...config, writeTimeoutMs: Number.POSITIVE_INFINITY },
    {
      app,
      log,
      metrics: metrics.http,
      checks: mode === 'proxy' ? { ...checks, daemon: daemon.check } : checks,
    },
    stack,
  );
  log.info({ url: api.url, opsUrl, mode, replay: config.replay }, 'listening');
  return {
    url: api.url,
    opsUrl,
    stop(): Promise<void> {
      endsAtMs = performance.now() + config.shutdownDrainMs + config.shutdownGraceMs;
      return stop();
    },
  };
}
