import { setTimeout as pause } from 'node:timers/promises';
import { loadLogConfig, startLog } from '@ori/log';
import { LIMITS_SPEC, type Limits } from '@ori/runtime/limits';
import { createLogger } from '@ori/runtime/log';
import { expect, it, onTestFinished } from 'vitest';
import { GUARD_SPEC } from '../../../services/guard/src/config.ts';
import { openGuardWorld } from '../../env/guard-world.ts';
import { rawClient } from '../../env/raw-client.ts';
import { SIGN_BODY, startWorld } from '../../env/world.ts';
import { openLogWorld } from '../../wings/transparency/log-world.ts';
import { startManagementWorld } from '../management/world.ts';

/** A service with one limit set. */
interface Limited {
  readonly url: string;
  readonly opsUrl: string;
  /** A request that is accepted, as it is sent. It has a body. */
  request(): string;
}

function post(path: string, body: string, ...lines: string[]): string {
  const head = [`POST ${path} HTTP/1.1`, 'Host: api.ori.test', `Content-Length: ${body.length}`, ...lines];
  return [...head, '', body].join('\r\n');
}
const bearer = (token: string) => [`Authorization: Bearer ${token}`, 'Content-Type: application/json'];

async function startSigner(config: Partial<Limits>): Promise<Limited> {
  const world = await startWorld({ config });
  onTestFinished(() => world[Symbol.asyncDispose]());
  const request = post(world.signPath, SIGN_BODY, ...bearer(await world.token()));
  return { url: world.baseUrl, opsUrl: world.opsUrl, request: () => request };
}

async function startManagement(config: Partial<Limits>): Promise<Limited> {
  const world = await startManagementWorld({ config });
  onTestFinished(() => world[Symbol.asyncDispose]());
  const request = post('/v1/guardrails', '{"name":"limited"}', ...bearer(world.ours.managementKey));
  return { url: world.baseUrl, opsUrl: world.opsUrl, request: () => request };
}

async function startGuard(config: Partial<Limits>): Promise<Limited> {
  // The daemon answers nothing, so a call stays in progress.
  const world = await openGuardWorld({ config, daemon: () => undefined });
  onTestFinished(() => world[Symbol.asyncDispose]());
  const request = () => world.signed({ path: '/a', body: '{"a":1}', user: 'user_ada' });
  return { url: world.guard.url, opsUrl: world.guard.opsUrl, request };
}

async function startSigningLog(limits: Partial<Limits>): Promise<Limited> {
  const world = await openLogWorld();
  onTestFinished(() => world[Symbol.asyncDispose]());
  const config = { ...loadLogConfig(world.env), shutdownIdleMs: 0, ...limits };
  const log = await startLog(config, { log: createLogger({ service: 'log', level: 'silent' }) });
  onTestFinished(log.stop);
  return { url: log.url, opsUrl: log.opsUrl, request: () => post('/log/lookup', '{"commitments":[]}') };
}

async function opened({ url }: Limited) {
  const connection = await rawClient(url);
  onTestFinished(() => connection[Symbol.dispose]());
  return connection;
}

async function send(service: Limited, bytes: string): Promise<void> {
  (await opened(service)).send(bytes);
}

/** Two requests whose last byte does not arrive. */
async function unfinished(service: Limited): Promise<void> {
  for (let index = 0; index < 2; index += 1) await send(service, service.request().slice(0, -1));
}

interface Probe {
  /** The value of the limit; 1 if absent. */
  readonly value?: number;
  /** What goes beyond the limit. */
  readonly exceed: (service: Limited) => Promise<unknown>;
  /** Which counter says so. */
  readonly budget: string;
}

/** One for each limit. */
const PROBES: Readonly<Partial<Record<keyof Limits, Probe>>> = {
  requestsInFlightMax: { budget: 'process', exceed: unfinished },
  requestsInFlightPerAddressMax: { budget: 'address', exceed: unfinished },
  requestsInFlightPerAccountMax: {
    budget: 'account',
    async exceed(service) {
      // Whoever knows the account before the body counts then; the guard counts a call that its daemon does not answer.
      await unfinished(service);
      for (let index = 0; index < 2; index += 1) await send(service, service.request());
    },
  },
  connectionsMax: {
    budget: 'connections',
    exceed: async (service) => [await opened(service), await opened(service)],
  },
  overloadDelayMs: {
    budget: 'overload',
    value: 50,
    async exceed(service) {
      // The event loop stands still, as it does when it has more to do than it can: three late measurements are overload.
      for (let turn = 0; turn < 4; turn += 1) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
        await pause(60);
      }
      for (let index = 0; index < 10; index += 1) await send(service, service.request());
    },
  },
};

/** The log knows no accounts. */
const SERVICES = [
  { service: 'signer', start: startSigner, knowsAccounts: true },
  { service: 'management', start: startManagement, knowsAccounts: true },
  { service: 'guard', start: startGuard, knowsAccounts: true },
  { service: 'log', start: startSigningLog, knowsAccounts: false },
];

const CASES = SERVICES.flatMap(({ service, start, knowsAccounts }) =>
  Object.entries(PROBES)
    .filter(([, { budget }]) => budget !== 'account' || knowsAccounts)
    .map(([limit, probe]) => [service, limit, start, probe] as const),
);

it('each limit that can be set is a setting of the guard, and has a probe', () => {
  expect(Object.keys(LIMITS_SPEC).filter((key) => !(key in GUARD_SPEC && key in PROBES))).toEqual([]);
});

it.each(CASES)('%s refuses what goes beyond %s', async (_, limit, start, { budget, value = 1, exceed }) => {
  const service = await start({ [limit]: value });
  await exceed(service);
  const counted = async () => {
    const metrics = await (await fetch(`${service.opsUrl}/metrics`)).text();
    return Number(
      new RegExp(`budget_exhausted_total{[^}]*budget="${budget}"[^}]*} (\\d+)`).exec(metrics)?.[1],
    );
  };
  await expect.poll(counted).toBeGreaterThan(0);
});
