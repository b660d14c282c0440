import { createLogger } from '@ori/runtime/log';
import { createMetrics } from '@ori/runtime/metrics';
import { expect, onTestFinished, test } from 'vitest';
import { exchangeOf } from '../ground/exchange.ts';
import type { Admission } from '../overload/admission.ts';
import { openPorts } from './open-ports.ts';

test('a request has five seconds, and its answer thirty to be read, where a service does not say otherwise', async () => {
  const metrics = createMetrics({ service: 'test' });
  onTestFinished(() => metrics.close());
  const host = '127.0.0.1';
  const opened = await openPorts(
    { host, port: 0, opsHost: host, opsPort: 0, trustGateway: false, shutdownIdleMs: 0 },
    {
      app(req, res) {
        const { deadline, admission } = exchangeOf(req);
        res.end(JSON.stringify([deadline.ms, (admission as Admission).limits.writeTimeoutMs]));
      },
      log: createLogger({ service: 'test', level: 'silent' }),
      metrics,
      checks: {},
    },
    new AsyncDisposableStack(),
  );
  onTestFinished(opened.stop);
  expect(await (await fetch(opened.api.url)).json()).toEqual([5000, 30_000]);
});
