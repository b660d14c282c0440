import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, type Registry } from 'prom-client';
import { instrumentsOf } from './instruments.ts';

const NANOSECONDS = 1e9;
const RESOLUTION_MS = 10;
const OPEN_FDS = '/proc/self/fd';

/**
 * The metrics of the process, under the standard names of Prometheus client libraries if there are any. Not
 * prom-client's default set, because `promtool check metrics` rejects some of its names.
 */
export function collectProcessMetrics(registry: Registry): { close(): void } {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const { reading } = instrumentsOf(registry);
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'User and system CPU time spent, in seconds.',
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  const startedAt = Math.round(Date.now() / 1000 - process.uptime());
  reading('process_start_time_seconds', 'Start of the process, in Unix seconds.', () => startedAt);
  reading('process_resident_memory_bytes', 'Resident memory, in bytes.', () => process.memoryUsage.rss());
  reading('process_open_fds', 'Open file descriptors.', countOpenFiles);
  reading(
    'nodejs_heap_used_bytes',
    'Used part of the JavaScript heap.',
    () => process.memoryUsage().heapUsed,
  );
  reading('nodejs_heap_size_bytes', 'Size of the JavaScript heap.', () => process.memoryUsage().heapTotal);
  reading('nodejs_external_memory_bytes', 'Memory outside the heap.', () => process.memoryUsage().external);
  reading('nodejs_eventloop_lag_p50_seconds', 'Median delay of the event loop since the last scrape.', () =>
    seconds(delay.percentile(50)),
  );
  reading('nodejs_eventloop_lag_p99_seconds', '99th percentile of the same delay.', () => {
    const value = seconds(delay.percentile(99));
    delay.reset();
    return value;
  });
  return { close: () => delay.disable() };
}

/** The histogram records the time between two ticks of its timer, so the timer's interval is subtracted. */
function seconds(nanoseconds: number): number {
  return Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / NANOSECONDS - RESOLUTION_MS / 1000) : 0;
}

function countOpenFiles(): number {
  try {
    return readdirSync(OPEN_FDS).length;
  } catch {
    return Number.NaN;
  }
}
