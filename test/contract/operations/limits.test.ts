import { setTimeout as pause } from 'node:timers/promises';
import type { Limits } from '@ori/runtime/limits';
import { expect, it, onTestFinished } from 'vitest';
import { SIGN_BODY, startWorld } from '../../env/world.ts';
import { startManagementWorld } from '../management/world.ts';
import { openConnection } from '../raw-connection.ts';

/** A service with one limit set. */
interface Limited {
  readonly baseUrl: string;
  readonly opsUrl: string;
  /** A request that is accepted, as it is sent. */
  readonly accepted: string;
}

async function startSigner(config: Partial<Limits>): Promise<Limited> {
  const world = await startWorld({ config });
  onTestFinished(() => world[Symbol.asyncDispose]());
  const accepted = request('POST', world.signPath, await world.token(), SIGN_BODY);
  return { baseUrl: world.baseUrl, opsUrl: world.opsUrl, accepted };
}

async function startManaging(config: Partial<Limits>): Promise<Limited> {
  const world = await startManagementWorld({ config });
  onTestFinished(() => world[Symbol.asyncDispose]());
  const accepted = request('POST', '/v1/guardrails', world.ours.managementKey, '{"name":"limited"}');
  return { baseUrl: world.baseUrl, opsUrl: world.opsUrl, accepted };
}

function request(method: string, path: string, bearer: string, body: string): string {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: api.ori.test', `Authorization: Bearer ${bearer}`];
  return [...lines, 'Content-Type: application/json', `Content-Length: ${body.length}`, '', body].join(
    '\r\n',
  );
}

async function opened({ baseUrl }: Limited) {
  const connection = await openConnection(baseUrl);
  onTestFinished(() => connection[Symbol.asyncDispose]());
  return connection;
}

/** A request whose last byte does not arrive. */
async function unfinished(service: Limited): Promise<void> {
  (await opened(service)).write(service.accepted.slice(0, -1));
}

interface Probe {
  /** The value of the limit; 1 if absent. */
  readonly value?: number;
  /** What goes beyond the limit. */
  readonly exceed: (service: Limited) => Promise<unknown>;
  /** Which counter says so. */
  readonly budget: string;
}

const twice = async (service: Limited) => [await unfinished(service), await unfinished(service)];

/** One for each limit. */
const PROBES: Readonly<Partial<Record<keyof Limits, Probe>>> = {
  requestsInFlightMax: { budget: 'process', exceed: twice },
  requestsInFlightPerAddressMax: { budget: 'address', exceed: twice },
  requestsInFlightPerAccountMax: { budget: 'account', exceed: twice },
  connectionsMax: {
    budget: 'connections',
    exceed: async (service) => [await opened(service), await opened(service)],
  },
  overloadDelayMs: {
    budget: 'overload',
    value: 50,
    exceed: async (service) => {
      // The event loop stands still, as it does when it has more to do than it can.
      for (let turn = 0; turn < 6; turn += 1) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
        await pause(60);
      }
      for (let index = 0; index < 10; index += 1) (await opened(service)).write(service.accepted);
    },
  },
};
const CASES = Object.entries(PROBES).flatMap(([limit, probe]) => [
  ['signer', limit, startSigner, probe] as const,
  ['management', limit, startManaging, probe] as const,
]);

it.each(CASES)('%s refuses what goes beyond %s', async (_, limit, start, { budget, value = 1, exceed }) => {
  const service = await start({ [limit]: value });
  await exceed(service);
  const counted = async () => {
    const metrics = await (await fetch(`${service.opsUrl}/metrics`)).text();
    return Number(
      new RegExp(`budget_exhausted_total{[^}]*budget="${budget}"[^}]*} (\\d+)`).exec(metrics)?.[1],
    );
  };
  await expect.poll(counted, { timeout: 10_000 }).toBeGreaterThan(0);
});
