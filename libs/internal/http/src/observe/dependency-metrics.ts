import { instrumentsOf } from '@ori/runtime/instruments';
import { Histogram, type Registry } from 'prom-client';
import type { Tracing } from './tracing.ts';

const BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.4, 1];

/**
 * Wraps every asynchronous method of a part, so that the time each call takes is counted for its dependency, and traced where tracing
 * is on.
 */
export function timeDependencies(
  registry: Registry,
  tracing?: Tracing,
): <Part extends object>(dependency: string, part: Part) => Part {
  const histogram = new Histogram({
    name: 'ori_dependency_duration_seconds',
    help: 'Time until a dependency answered or failed.',
    labelNames: ['dependency'],
    buckets: BUCKETS_SECONDS,
    registers: [registry],
  });
  return (dependency, part) => {
    const observer = histogram.labels({ dependency });
    const timed = (name: string, member: (...values: unknown[]) => unknown) => {
      const own = member.bind(part);
      const method = tracing?.method(dependency, name, own) ?? own;
      return (...values: unknown[]) => {
        const startedAt = performance.now();
        const answer = method(...values);
        if (answer instanceof Promise) {
          const observe = () => observer.observe((performance.now() - startedAt) / 1000);
          // Separate from the promise of the caller, which need not wait for it.
          answer.then(observe, observe);
        }
        return answer;
      };
    };
    const members = Object.entries(part).map(([name, member]) => [
      name,
      typeof member === 'function' ? timed(name, member) : member,
    ]);
    return Object.fromEntries(members);
  };
}

/** Exposes the database pool; waiters are the first sign of a pool that is too small. */
export function collectConnections(
  registry: Registry,
  read: () => Readonly<Record<'open' | 'idle' | 'waiting', number>>,
): void {
  const { reading, readings } = instrumentsOf(registry);
  readings('ori_database_connections', 'Connections of the database pool by state.', ['state'], () => {
    const { open, idle } = read();
    return [
      [{ state: 'idle' }, idle],
      [{ state: 'busy' }, open - idle],
    ];
  });
  reading(
    'ori_database_connection_waiters',
    'Callers waiting for a connection of the database pool.',
    () => read().waiting,
  );
}

/** The keys are renewed every 240 s and usable for 600 s, so their age shows an outage of the issuer before callers notice it. */
export function collectIssuerKeysAge(registry: Registry, ageSeconds: () => number): void {
  const help = 'Time since the issuer keys were last fetched.';
  instrumentsOf(registry).reading('ori_issuer_keys_age_seconds', help, ageSeconds);
}
