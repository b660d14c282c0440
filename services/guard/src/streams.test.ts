import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { openGuardWorld } from '@ori/test-env/guard-world';
import { rawClient } from '@ori/test-env/raw-client';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';

const CALL = { path: '/a', body: '{}', user: 'user_ada' };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
});

it.each([
  ['call', '58', 200],
  ['call', '62', 504],
  ['open path', '58', 200],
  ['open path', '62', 504],
])(
  'to a %s, the answer of a daemon may begin within a minute: after %s s it is %i',
  async (what, seconds, status) => {
    const called = Promise.withResolvers<ServerResponse>();
    await using world = await openGuardWorld({
      env: { GUARD_OPEN_PATHS: '/open' },
      daemon: (_req, res) => called.resolve(res),
    });
    const open = 'GET /open HTTP/1.1\r\nHost: daemon.example\r\n\r\n';
    const answer = world.raw(what === 'call' ? world.signed(CALL) : open);
    const res = await called.promise;
    vi.advanceTimersByTime(Number(seconds) * 1000);
    if (status === 200) res.end();
    expect(await answer).toMatchObject({ status });
  },
);

it('a stream may be silent for an hour', async () => {
  const { promise: begun, resolve } = Promise.withResolvers<ServerResponse>();
  await using world = await openGuardWorld({
    daemon(_req, res) {
      res.write('one');
      resolve(res);
    },
  });
  using client = await rawClient(world.port);
  client.send(world.signed(CALL));
  await client.until(/one/);
  vi.advanceTimersByTime(3_600_000);
  (await begun).end('two');
  expect(await client.until(/two/)).toContain('200 OK');
});

it('a client that takes what was sent every twenty seconds gets all of a long answer', async () => {
  const chunk = Buffer.alloc(65_536, 'ori');
  const chunks = 1024;
  let sent = 0;
  function* parts() {
    for (; sent < chunks; sent += 1) yield chunk;
  }
  await using world = await openGuardWorld({
    daemon: (_req, res) => void Readable.from(parts(), { objectMode: false }).pipe(res),
  });
  const socket = connect(world.port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let received = 0;
  const count = ({ length }: Buffer) => {
    received += length;
  };
  socket.on('data', count).pause();
  socket.write(world.signed({ ...CALL, lines: 'Connection: close\r\n' }));
  let lately = -1;
  const isStalled = () => {
    const isSame = sent > 0 && sent === lately;
    lately = sent;
    return isSame;
  };
  for (let times = 0; times < 3; times += 1) {
    await expect.poll(isStalled).toBe(true);
    vi.advanceTimersByTime(20_000);
    const before = sent;
    socket.resume();
    await expect.poll(() => sent, { interval: 1 }).toBeGreaterThan(before);
    socket.pause();
  }
  expect(sent).toBeLessThan(chunks);
  socket.resume();
  await once(socket, 'end');
  expect(received).toBeGreaterThan(chunks * chunk.length);
});
