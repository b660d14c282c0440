import { BODY, CLAIMED, FRAMES, LINES, REFUSED_TARGETS, TARGETS } from '@ori/test-env/guard-forms';
import { type GuardWorld, headerOf, openGuardWorld, type Seen } from '@ori/test-env/guard-world';
import { rawClient } from '@ori/test-env/raw-client';
import { afterAll, beforeAll, expect, it } from 'vitest';

let world: GuardWorld;
beforeAll(async () => {
  world = await openGuardWorld({ env: { GUARD_OPEN_PATHS: '/healthz' } });
});
afterAll(() => world[Symbol.asyncDispose]());

function expectFaithful(seen: Seen | undefined, path: string): void {
  expect(seen).toMatchObject({ method: 'POST', url: path });
  if (seen === undefined) return;
  expect(seen.body.toString()).toBe(BODY);
  expect(headerOf(seen, 'x-ori-verified-user')).toBe('user_ada');
  expect(headerOf(seen, 'content-length')).toBe(String(BODY.length));
  expect(headerOf(seen, 'content-type')).toBe('application/json');
  expect(headerOf(seen, 'host')).toBe('d');
  expect(seen.rawHeaders.filter((text) => text.includes(CLAIMED))).toEqual([]);
  expect(headerOf(seen, 'transfer-encoding')).toBeUndefined();
  expect(seen.rawHeaders.filter((text, at) => at % 2 === 0 && /^x.ori.(?!verified)/i.test(text))).toEqual([]);
}

async function send(bytes: string): Promise<{ status: number; seen: Seen | undefined }> {
  const before = world.seen.length;
  using client = await rawClient(world.port);
  client.send(Buffer.from(bytes, 'latin1'));
  let { status } = await client.answer();
  if (status === 100) ({ status } = await client.answer());
  expect(world.seen.length).toBeLessThanOrEqual(before + 1);
  return { status, seen: world.seen[before] };
}

it('each raw form of a signed call reaches the daemon as it was verified, or not at all', async () => {
  const passed: string[] = [];
  let forms = 0;
  for (const frame of FRAMES)
    for (const lines of ['', ...LINES]) {
      forms += 1;
      const { status, seen } = await send(
        frame('/a', world.proofLines({ path: '/a', body: BODY, user: 'user_ada' }), lines),
      );
      if (seen === undefined) expect(status, lines).toBeGreaterThanOrEqual(400);
      else {
        expect(status).toBe(200);
        expectFaithful(seen, '/a');
        passed.push(lines);
      }
    }
  for (const frame of FRAMES)
    for (const path of TARGETS) {
      forms += 1;
      const { seen } = await send(frame(path, world.proofLines({ path, body: BODY, user: 'user_ada' }), ''));
      expectFaithful(seen, path);
    }
  expect(passed.length).toBeGreaterThan(100);
  expect(forms).toBeGreaterThan(200);
}, 30_000);

it('no form without a proof of exactly this call reaches the daemon', async () => {
  const before = world.seen.length;
  const proof = () => world.proofLines({ path: '/a', body: BODY, user: 'user_ada' });
  const identity = `x-ori-verified-user: ${CLAIMED}\r\n`;
  for (const frame of FRAMES) {
    for (const path of [...TARGETS.slice(1), ...REFUSED_TARGETS]) await send(frame(path, proof(), ''));
    for (const lines of ['', ...LINES]) await send(frame('/a', identity, lines));
    await send(frame('/a', world.proofLines({ path: '/a', body: '{"a":2}', user: 'user_ada' }), ''));
    await send(frame('/healthz', identity, ''));
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'post'])
      await send(frame('/a', proof(), '').replace('POST', method));
  }
  for (const target of ['/healthz?', '/healthz/', '/Healthz', '//healthz', '/health%7a'])
    await send(`GET ${target} HTTP/1.1\r\nHost: d\r\n\r\n`);
  await send('GET /healthz HTTP/1.1\r\nHost: d\r\nContent-Length: 1\r\n\r\nx');
  expect(world.seen.slice(before)).toEqual([]);
}, 30_000);

it('each pipelined request is judged, and a body never becomes a request', async () => {
  const before = world.seen.length;
  const one = world.signed({ path: '/a', body: BODY, user: 'user_ada' });
  const smuggled = world.signed({
    path: '/b',
    body: `POST /c HTTP/1.1\r\nHost: d\r\n\r\n`,
    user: 'user_ada',
  });
  using client = await rawClient(world.port);
  client.send(one + one + smuggled);
  const statuses = [await client.answer(), await client.answer(), await client.answer()].map(
    ({ status }) => status,
  );
  expect(statuses).toEqual([200, 401, 200]);
  // Each call has a connection of its own to the daemon: the second may be there first.
  const paths = world.seen.slice(before).map(({ url }) => url);
  expect(paths.toSorted()).toEqual(['/a', '/b']);
});

it('an open path is reached without a proof, by GET and HEAD, without identity', async () => {
  const before = world.seen.length;
  const lines = `Host: d\r\nx-ori-verified-user: ${CLAIMED}\r\nX_Ori_Verified_User: ${CLAIMED}\r\n\r\n`;
  expect(await world.raw(`GET /healthz HTTP/1.1\r\n${lines}`)).toMatchObject({ status: 200, body: 'nobody' });
  using client = await rawClient(world.port);
  client.send(`HEAD /healthz HTTP/1.1\r\n${lines}`);
  await expect.poll(() => world.seen.length).toBe(before + 2);
  expect(world.seen.at(-1)?.rawHeaders.join()).not.toContain(CLAIMED);
});
