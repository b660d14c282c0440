import type { RequestListener } from 'node:http';
import { variableName } from '@ori/runtime/config';
import { LIMITS_SPEC } from '@ori/runtime/limits';
import { type GuardWorld, openGuardWorld } from '@ori/test-env/guard-world';
import { type RawClient, rawClient } from '@ori/test-env/raw-client';
import { expect, it, onTestFinished } from 'vitest';

const CALL = { path: '/a', body: '{"a":1}', user: 'user_ada' };

async function client(world: GuardWorld): Promise<RawClient> {
  const opened = await rawClient(world.port);
  onTestFinished(() => opened[Symbol.dispose]());
  return opened;
}

/** A signed call whose last byte does not arrive. */
async function unfinished(world: GuardWorld): Promise<RawClient> {
  const opened = await client(world);
  opened.send(world.signed(CALL).slice(0, -1));
  return opened;
}

interface Probe {
  /** What goes beyond the limit. */
  readonly exceed: (world: GuardWorld) => Promise<unknown>;
  /** Which counter says so. */
  readonly budget: string;
}

/** One for each limit. */
const PROBES: Readonly<Record<string, Probe>> = {
  GUARD_REQUESTS_IN_FLIGHT_MAX: {
    budget: 'process',
    exceed: async (world) => [await unfinished(world), await unfinished(world)],
  },
  GUARD_REQUESTS_IN_FLIGHT_PER_ADDRESS_MAX: {
    budget: 'address',
    exceed: async (world) => [await unfinished(world), await unfinished(world)],
  },
  GUARD_REQUESTS_IN_FLIGHT_PER_ACCOUNT_MAX: {
    budget: 'account',
    exceed: async (world) => {
      (await client(world)).send(world.signed({ ...CALL, path: '/wait' }));
      await expect.poll(() => world.seen.length).toBe(1);
      const refused = world.signed(CALL);
      const answer = await world.raw(refused);
      expect(answer).toMatchObject({ status: 503 });
      expect(JSON.parse(answer.body).error.code).toBe('busy');
      expect(await world.raw(world.signed({ ...CALL, user: 'user_grace' }))).toMatchObject({ status: 200 });
    },
  },
};

const limits = Object.keys(LIMITS_SPEC).map((key) => variableName('GUARD', key));

/** `/wait` is never answered. */
const daemon: RequestListener = ({ url }, res) => {
  if (url !== '/wait') res.end('ok');
};

it('each limit has a probe, and each probe is of one', () => {
  expect(Object.keys(PROBES).sort()).toEqual(limits.sort());
});

it.each(limits)('%s refuses what goes beyond it', async (name) => {
  const { budget, exceed } = PROBES[name] as Probe;
  await using world = await openGuardWorld({ daemon, env: { [name]: '1' } });
  await exceed(world);
  const counted = async () => {
    const metrics = await (await fetch(`${world.guard.opsUrl}/metrics`)).text();
    return Number(
      new RegExp(`budget_exhausted_total{[^}]*budget="${budget}"[^}]*} (\\d+)`).exec(metrics)?.[1],
    );
  };
  await expect.poll(counted, { timeout: 10_000 }).toBeGreaterThan(0);
});

it('serves a person who was just served, in overload, and refuses strangers', async () => {
  await using world = await openGuardWorld({ daemon, env: { GUARD_REQUESTS_IN_FLIGHT_MAX: '4' } });
  expect(await world.raw(world.signed(CALL))).toMatchObject({ status: 200 });
  // Half full: only those who were recently served are admitted.
  for (let index = 0; index < 2; index += 1) await unfinished(world);
  expect(await world.raw(world.signed(CALL))).toMatchObject({ status: 200 });
});

it('in a mode that authorizes for another proxy, counts the calls of each person too', async () => {
  await using world = await openGuardWorld({
    env: { GUARD_MODE: 'ext_authz', GUARD_REQUESTS_IN_FLIGHT_MAX: '4' },
  });
  expect(await world.raw(world.signed(CALL))).toMatchObject({ status: 200 });
  for (let index = 0; index < 2; index += 1) await unfinished(world);
  expect(await world.raw(world.signed(CALL))).toMatchObject({ status: 200 });
});
