import { setImmediate as turn } from 'node:timers/promises';
import { EvictingRedis, type EvictionWatch } from '@ori/redis/eviction';
import { ConfigError } from '@ori/runtime/config';
import { OverprivilegedLogin } from '@ori/store/login';
import { afterEach, expect, test, vi } from 'vitest';
import { type CheckedDependencies, requireDependencies } from './require-dependencies.ts';

afterEach(() => void vi.useRealTimers());

const OVERPRIVILEGED = new OverprivilegedLogin(['may insert into "interns"'], ['revoke all on "interns"']);
const COMPLAINTS_OF_LOGIN = OVERPRIVILEGED.problems('SIGNER_DATABASE_URL');

const pass = async () => {};
const fail = (error: Error) => () => Promise.reject(error);
const away = fail(new Error('away'));

const redis = (parts: Partial<EvictionWatch>): EvictionWatch => ({
  isSafe: false,
  isUnsafe: false,
  require: away,
  settled: pass,
  close: () => {},
  ...parts,
});
const safe = redis({ isSafe: true, require: pass });
const evicting = (policy?: string) => redis({ isUnsafe: true, require: fail(new EvictingRedis(policy)) });

/** A store whose pings end like these, one after another, and from then on like the last one. */
function storeOf(...endings: (() => Promise<void>)[]) {
  const count = { started: 0, ended: 0 };
  const ping = async (): Promise<undefined> => {
    const ending = endings[count.started] ?? endings.at(-1);
    count.started += 1;
    await ending?.();
    count.ended += 1;
  };
  return { store: { ping }, count };
}

/** Undefined if the start goes on. */
async function problemsOf(parts: Partial<CheckedDependencies>): Promise<readonly string[] | undefined> {
  try {
    await requireDependencies({ eviction: undefined, store: undefined, connections: 3, ...parts });
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

test.each<[string, Partial<CheckedDependencies>]>([
  ['nothing is configured', {}],
  ['Redis is safe', { eviction: safe }],
  ['the connection to Redis failed', { eviction: redis({}) }],
  ['Redis is not known to be unsafe', { eviction: { ...evicting('allkeys-lru'), isUnsafe: false } }],
  ['Redis goes away while it is asked why it is unsafe', { eviction: redis({ isUnsafe: true }) }],
  ['Redis became safe meanwhile', { eviction: redis({ isUnsafe: true, require: pass }) }],
  ['the store is healthy', storeOf(pass)],
  ['all but one connection of the store fail', storeOf(away, away, pass)],
  ['both are healthy', { eviction: safe, ...storeOf(pass) }],
])('does not complain if %s', async (_, parts) => {
  expect(await problemsOf(parts)).toBeUndefined();
});

test('waits a second for a Redis that does not connect', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const done = vi.fn();
  const eviction = redis({ settled: () => new Promise(() => {}) });
  void problemsOf({ eviction }).then(done);
  await vi.advanceTimersByTimeAsync(999);
  await turn();
  expect(done).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  await turn();
  expect(done).toHaveBeenCalledWith(undefined);
});

test('waits for the verdict on Redis, asks the store meanwhile, and leaves no timer', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { promise, resolve } = Promise.withResolvers<void>();
  const eviction = { ...redis({ settled: () => promise }), isUnsafe: false };
  const { store, count } = storeOf(pass);
  const judging = problemsOf({ eviction, store });
  await turn();
  expect(count.ended).toBe(3);
  Object.assign(eviction, evicting('allkeys-lru'));
  resolve();
  expect(await judging).toHaveLength(3);
  expect(vi.getTimerCount()).toBe(0);
});

test.each([
  ['evicts', 'allkeys-lru', 'CONFIG SET maxmemory-policy noeviction'],
  ['does not allow INFO', undefined, 'ACL SETUSER'],
])('refuses a Redis that %s, and shows the command that helps', async (_, policy, command) => {
  expect(await problemsOf({ eviction: evicting(policy), ...storeOf(pass) })).toEqual([
    expect.stringMatching(`^SIGNER_REDIS_URL: .*${policy ?? 'INFO'}`),
    expect.stringMatching('.'),
    expect.stringContaining(command),
  ]);
});

test('refuses an overprivileged login, and complains of Redis in the same breath', async () => {
  const { store } = storeOf(fail(OVERPRIVILEGED));
  expect(await problemsOf({ eviction: safe, store })).toEqual(COMPLAINTS_OF_LOGIN);
  const eviction = evicting('volatile-ttl');
  const ofRedis = (await problemsOf({ eviction })) ?? [];
  expect(await problemsOf({ eviction, store })).toEqual([...ofRedis, ...COMPLAINTS_OF_LOGIN]);
});

test.each([1, 2, 5])('opens %i connections at the same time, and waits for each', async (connections) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const slow = async () => {
    await promise;
    await turn();
  };
  const { store, count } = storeOf(slow, () => promise);
  const judging = problemsOf({ store, connections });
  await turn();
  expect(count).toEqual({ started: connections, ended: 0 });
  resolve();
  expect(await judging).toBeUndefined();
  expect(count.ended).toBe(connections);
});
