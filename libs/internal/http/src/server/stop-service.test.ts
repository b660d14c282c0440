import { rawClient } from '@ori/test-env/raw-client';
import { Registry } from 'prom-client';
import { expect, it, vi } from 'vitest';
import { startOpsServer } from '../observe/ops.ts';
import { STOP_TIMES, stopService } from './open-ports.ts';
import { startApiServer } from './server.ts';

const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const AN_HOUR = 3_600_000;

async function service() {
  const host = '127.0.0.1';
  const ops = await startOpsServer({
    host,
    port: 0,
    registry: new Registry(),
    checks: {},
    checkTimeoutMs: 50,
  });
  const api = await startApiServer({
    app: (_req, res) => void res.end('ok'),
    host,
    port: 0,
    deadlineMs: 10_000,
  });
  const readiness = async () => (await fetch(`${ops.url}/readyz`)).status;
  return { ops, api, readiness, [Symbol.asyncDispose]: ops.stop };
}

async function ask(client: Awaited<ReturnType<typeof rawClient>>) {
  client.send(GET);
  return client.answer();
}

it('leaves idle connections open for two seconds and gives requests ten, unless told otherwise', async () => {
  const [drain, stop, wait] = [vi.fn(), vi.fn(), vi.fn()];
  await stopService({ ops: { drain }, api: { stop } }, STOP_TIMES, wait);
  expect(wait).toHaveBeenCalledExactlyOnceWith(0);
  expect(stop).toHaveBeenCalledExactlyOnceWith({ idleGraceMs: 2000, graceMs: 10_000 });
});

it('still serves while readiness is off, on new and on kept connections', async () => {
  await using world = await service();
  using kept = await rawClient(world.api.port);
  await ask(kept);
  const drained = Promise.withResolvers<void>();
  const waits: number[] = [];
  const stopped = stopService(
    world,
    { shutdownDrainMs: 500, shutdownIdleMs: 0, shutdownGraceMs: AN_HOUR },
    (ms) => {
      waits.push(ms);
      return drained.promise;
    },
  );
  expect(await world.readiness()).toBe(503);
  using late = await rawClient(world.api.port);
  for (const client of [kept, late]) {
    const { status, headers } = await ask(client);
    expect([status, headers.get('connection')]).toEqual([200, 'keep-alive']);
  }
  expect(waits).toEqual([500]);
  drained.resolve();
  await stopped;
});

it('then stops accepting, answers on kept connections, and leaves idle ones for the gateway to close', async () => {
  await using world = await service();
  using used = await rawClient(world.api.port);
  using idle = await rawClient(world.api.port);
  await Promise.all([ask(used), ask(idle)]);
  const stopped = stopService(world, {
    shutdownDrainMs: 0,
    shutdownIdleMs: AN_HOUR,
    shutdownGraceMs: AN_HOUR,
  });
  await expect
    .poll(() => rawClient(world.api.port).then((client) => client[Symbol.dispose](), String))
    .toMatch('ECONNREFUSED');
  expect((await ask(used)).headers.get('connection')).toBe('close');
  await used.closed();
  expect((await ask(idle)).status).toBe(200);
  await stopped;
});
