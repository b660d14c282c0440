import { expect, it, onTestFinished, vi } from 'vitest';
import { TlogError } from '../tlog-error.ts';
import { createKeyWatch, type KeyWatchOptions } from './key-watch.ts';
import type { LogClient } from './log-client.ts';
import { type AcceptedProof, createMonitor } from './monitor.ts';

const ignore = () => undefined;
const heard = { onProblem: ignore, onMissing: ignore, onKey: ignore };
type Options = Pick<KeyWatchOptions, 'client'> & {
  readonly onProblem?: (problem: { readonly kind: string }) => void;
};
const watches = [
  ['monitor', monitorOfOne],
  ['key watch', (options: Options) => createKeyWatch({ internId: 'a', ...heard, ...options })],
] as const;

/** A monitor for whose log one proof waits. */
function monitorOfOne(options: Options) {
  const monitor = createMonitor<AcceptedProof>({ ...heard, ...options });
  monitor.accepted({ version: 2 }, '00'.repeat(32));
  return monitor;
}

it.each(watches)('a %s asks the log every five seconds, unless told otherwise', async (_, create) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const latest = vi.fn<LogClient['latest']>().mockRejectedValue(new TlogError('unavailable', 'no answer'));
  const not = () => expect.unreachable();
  const { stop } = create({ client: { latest, lookup: not, prove: not, bundle: not } });
  await vi.advanceTimersByTimeAsync(4999);
  expect(latest).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(latest).toHaveBeenCalledOnce();
  await stop();
});

it.each(watches)('a %s says that the log is behind while a check of it lasts', async (_, create) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const kinds: string[] = [];
  const { promise, reject } = Promise.withResolvers<never>();
  const not = () => expect.unreachable();
  const client: LogClient = { latest: () => promise, lookup: not, prove: not, bundle: not };
  const watch = create({ client, onProblem: ({ kind }) => void kinds.push(kind) });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(kinds).toEqual([]);
  await vi.advanceTimersByTimeAsync(5000);
  expect(kinds).toEqual(['behind']);
  reject(new TlogError('unavailable', 'no answer'));
  await watch.stop();
  expect(kinds).toEqual(['behind']);
});
