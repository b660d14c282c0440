import { expect, it, onTestFinished, vi } from 'vitest';
import { TlogError } from '../tlog-error.ts';
import { createKeyWatch } from './key-watch.ts';
import type { LogClient } from './log-client.ts';
import { createMonitor } from './monitor.ts';

const ignore = () => undefined;
const heard = { onProblem: ignore, onMissing: ignore, onKey: ignore };
it.each([
  ['monitor', (client: LogClient) => createMonitor({ client, ...heard })],
  ['key watch', (client: LogClient) => createKeyWatch({ client, internId: 'a', ...heard })],
])('a %s asks the log every five seconds, unless told otherwise', async (_, create) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const latest = vi.fn<LogClient['latest']>().mockRejectedValue(new TlogError('unavailable', 'no answer'));
  const not = () => expect.unreachable();
  const { stop } = create({ latest, lookup: not, prove: not, bundle: not });
  await vi.advanceTimersByTimeAsync(4999);
  expect(latest).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(latest).toHaveBeenCalledOnce();
  await stop();
});
