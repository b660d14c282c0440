import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { guardProcess, openGuardWorld } from '../env/guard-world.ts';
import { rawClient } from '../env/raw-client.ts';
import { findProgram, openRoom } from '../env/room.ts';

const PRLIMIT = findProgram('prlimit');

const deviceOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.rdev;

/** What libuv keeps in order to close connections that it cannot accept. All descriptors below it are in use for good. */
const reserveOf = (pid: number | undefined): number =>
  Math.max(
    ...readdirSync(`/proc/${pid}/fd`)
      .map(Number)
      .filter((descriptor) => deviceOf(`/proc/${pid}/fd/${descriptor}`) === deviceOf('/dev/null')),
  );

test.skipIf(PRLIMIT === undefined)(
  'a guard without a file descriptor left says what became of the call, closes new connections, and serves again with one',
  async () => {
    await using world = await openGuardWorld();
    await using room = await openRoom('ori-guard-descriptors');
    const said: string[] = [];
    const environment = {
      GUARD_SPOOL_FOLDER: room.directory,
      GUARD_DAEMON_IDLE_MS: '1',
    };
    const { port, guard } = await guardProcess(world, room, environment, (line) => void said.push(line));
    await guard.start();
    const limitTo = (descriptors: number) =>
      execFileSync(PRLIMIT ?? '', [`--pid=${guard.pid}`, `--nofile=${descriptors}:`]);
    const call = (body: string) => ({ body, bytes: world.signed({ path: '/api', body }) });
    const arrivals = ({ body }: { body: string }) =>
      world.seen.filter((one) => String(one.body) === body).length;
    using client = await rawClient(port);
    const send = async ({ bytes }: { bytes: string }) => {
      client.send(bytes);
      const { status, body } = await client.answer();
      return [status, status === 200 ? undefined : JSON.parse(body).error.code];
    };
    // A store in memory refuses the proofs of the seconds after its start; the guard keeps this connection open.
    await expect.poll(() => send(call('"ready"'))).toEqual([200, undefined]);

    limitTo(reserveOf(guard.pid) + 1);
    const large = call(JSON.stringify('large'.repeat(20_000)));
    expect(await send(large)).toEqual([503, 'body_not_kept']);
    const small = call('"small"');
    expect(await send(small)).toEqual([502, 'daemon_unreachable']);
    using stranger = await rawClient(port);
    await stranger.closed();
    expect(stranger.received()).toBe('');
    expect([large, small].map(arrivals)).toEqual([0, 0]);
    const why = /"why":"the process has no file descriptor left"/;
    await expect.poll(() => said.filter((line) => why.test(line)).length).toBe(2);

    limitTo(1024);
    expect(await send(large)).toEqual([200, undefined]);
    expect(await send(small)).toEqual([401, 'nonce_replayed']);
    using later = await rawClient(port);
    later.send(call('"later"').bytes);
    expect((await later.answer()).status).toBe(200);
    expect(readdirSync(room.directory)).toEqual([]);
    expect(arrivals(large)).toBe(1);
  },
);
