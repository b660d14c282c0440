import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { test } from 'vitest';
import { guardProcess, openGuardWorld } from '../env/guard-world.ts';
import { rawClient } from '../env/raw-client.ts';
import { sharedRedisUrl } from '../env/redis.ts';
import { openRoom } from '../env/room.ts';

const KILLS = Number(process.env['GUARD_KILLS'] ?? 3);
const AT_ONCE = 16;
/** Longer than a call takes: when the guard is killed, some have been answered, some are in it, some have not begun. */
const SENT_WITHIN_MS = 25;

// Concurrently: a start waits until its store accepts proofs.
test.concurrent.for(['redis', 'memory'])(
  'a guard with its spent proofs in %s, killed again and again under load: no call arrives twice, none that was answered is lost, and each start serves',
  { timeout: KILLS * 30_000 },
  async (replay, { expect }) => {
    await using world = await openGuardWorld();
    await using room = await openRoom('ori-guard-kills');
    const { port, guard } = await guardProcess(world, room, {
      GUARD_REPLAY: replay,
      ...(replay === 'redis' && { GUARD_REDIS_URL: sharedRedisUrl() }),
    });
    const newCall = () => {
      const body = JSON.stringify({ call: randomUUID() });
      return { body, bytes: world.signed({ path: '/api', body }) };
    };
    const send = async (bytes: string) => {
      using client = await rawClient(port);
      client.send(bytes);
      return (await client.answer()).status;
    };
    /** The status, or undefined if the guard was killed before its answer. */
    const call = (bytes: string) => send(bytes).catch(() => undefined);
    const arrivals = (body: string) => world.seen.filter((one) => String(one.body) === body).length;

    const calls: ReturnType<typeof newCall>[] = [];
    let cut = 0;
    await guard.start();
    for (let kill = 0; kill < KILLS; kill++) {
      // A store in memory refuses the proofs of the seconds after its start.
      await expect.poll(() => call(newCall().bytes)).toBe(200);
      const round = Array.from({ length: AT_ONCE }, newCall);
      calls.push(...round);
      const due = world.seen.length + 1 + Math.floor((Math.random() * AT_ONCE) / 2);
      const answers = round.map(async ({ bytes }) => {
        await pause(Math.random() * SENT_WITHIN_MS);
        return call(bytes);
      });
      while (world.seen.length < due) await pause(1);
      await guard.killFamily();
      const statuses = await Promise.all(answers);
      for (const [at, { body }] of round.entries()) {
        if (statuses[at] === undefined) cut += 1;
        else expect([statuses[at], arrivals(body)]).toEqual([200, 1]);
      }
      await guard.start();
      await Promise.all([...round, ...round].map(({ bytes }) => call(bytes)));
    }
    for (const { body } of calls) expect(arrivals(body)).toBeLessThanOrEqual(1);
    expect(cut).toBeGreaterThan(0);
    expect(world.seen.length).toBeGreaterThan(KILLS);
  },
);
